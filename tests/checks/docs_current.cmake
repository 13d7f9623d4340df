# rules/README.md is what the program prints; `./dev docs` writes it anew.
execute_process(COMMAND ${PROGRAM} rules --markdown
                OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "kvbudget rules --markdown ended with ${code}")
endif()
file(READ ${README} stored)
if(NOT printed STREQUAL stored)
  message(FATAL_ERROR "rules/README.md is stale: run ./dev docs")
endif()
