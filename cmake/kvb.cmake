# What every target of ours shares. Warnings are PRIVATE: other people's headers come in as SYSTEM.

add_library(kvb_warnings INTERFACE)
target_compile_options(kvb_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# g++ 12 sees overlapping copies in std::string operator+ where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kvb_warnings INTERFACE -Wno-restrict)
endif()
if(KVB_WERROR)
  target_compile_options(kvb_warnings INTERFACE -Werror)
endif()

# LLVM Support, as SYSTEM and without its exceptions and RTTI flags (its ABI does not depend on them for our use).
add_library(kvb_llvm INTERFACE)
target_include_directories(kvb_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(KVB_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(kvb_llvm INTERFACE ${KVB_LLVM_DEFINITIONS})
target_link_libraries(kvb_llvm INTERFACE LLVMSupport)

# kvb_library(NAME SOURCES … LINKS …): one static library per folder, includes are from the repository's root.
function(kvb_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS} kvb_warnings)
endfunction()

# kvb_embed(TARGET NAME FILE…): compiles text files in, as `kvbudget::embedded::NAME` (see EmbedText.cmake).
function(kvb_embed target name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.embedded.cc)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFILES=${joined} -DOUTPUT=${output}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
