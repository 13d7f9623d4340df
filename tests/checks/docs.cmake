# What the documentation shows is what the program prints: rules/README.md and the finding in
# README.md. Fails when they differ; with WRITE=ON (`./dev docs`) writes them anew instead.
function(expect path text)
  file(READ ${path} stored)
  if("${text}" STREQUAL "${stored}")
    return()
  elseif(WRITE)
    file(WRITE ${path} "${text}")
  else()
    message(FATAL_ERROR "${path} is stale: run ./dev docs")
  endif()
endfunction()

execute_process(COMMAND ${PROGRAM} rules --markdown
                OUTPUT_VARIABLE rules RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "kvbudget rules --markdown ended with ${code}")
endif()
expect(${ROOT}/rules/README.md "${rules}")

# The example stands between the line `$ ./dev lint FILE` and the end of its fence.
file(READ ${ROOT}/README.md readme)
if(NOT readme MATCHES "\\$ \\./dev lint ([^\n]+)\n")
  message(FATAL_ERROR "README.md shows no finding any more")
endif()
set(command_line "${CMAKE_MATCH_0}")
execute_process(COMMAND ${PROGRAM} lint ${CMAKE_MATCH_1} WORKING_DIRECTORY ${ROOT}
                OUTPUT_VARIABLE finding)
string(LENGTH "${command_line}" length)
string(FIND "${readme}" "${command_line}" begin)
math(EXPR begin "${begin} + ${length}")
string(SUBSTRING "${readme}" 0 ${begin} before)
string(SUBSTRING "${readme}" ${begin} -1 after)
string(FIND "${after}" "```" end)
string(SUBSTRING "${after}" ${end} -1 after)
expect(${ROOT}/README.md "${before}${finding}${after}")
