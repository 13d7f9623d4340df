# What the documentation shows is what the program prints: rules/README.md (`./dev docs` writes it
# anew) and the finding in README.md.
execute_process(COMMAND ${PROGRAM} rules --markdown
                OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "kvbudget rules --markdown ended with ${code}")
endif()
file(READ ${ROOT}/rules/README.md stored)
if(NOT "${printed}" STREQUAL "${stored}")
  message(FATAL_ERROR "rules/README.md is stale: run ./dev docs")
endif()

file(READ ${ROOT}/README.md readme)
if(NOT readme MATCHES "\\$ \\./dev lint ([^\n]+)\n")
  message(FATAL_ERROR "README.md shows no finding any more")
endif()
execute_process(COMMAND ${PROGRAM} lint ${CMAKE_MATCH_1} WORKING_DIRECTORY ${ROOT}
                OUTPUT_VARIABLE printed)
string(FIND "${readme}" "${CMAKE_MATCH_0}${printed}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "the finding in README.md is stale; the program prints\n${printed}")
endif()
