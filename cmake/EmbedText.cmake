# Turns text files into one C++ source: for each file a {name, text} pair of string_views.
#
#   cmake -DNAME=facts -DFILES=a.tsv|b.tsv -DOUTPUT=facts.cc -P EmbedText.cmake
#
# The user declares it with
#   namespace kvbudget::embedded { extern const std::span<const File> facts; }  // cmake/embedded.h
# Bytes are written as character constants: a string literal may not be that long, and '\xe2' needs no cast, so
# everything is initialised at compile time.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
foreach(path IN LISTS FILES)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND arrays "constexpr char ${id}[] = {${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", {${id}, sizeof(${id}) - 1}},\n")
endforeach()
file(WRITE ${OUTPUT}.new
"#include \"cmake/embedded.h\"
namespace kvbudget::embedded {
namespace {
${arrays}constexpr File ${NAME}_files[] = {
${entries}};
}  // namespace
extern const std::span<const File> ${NAME};
constinit const std::span<const File> ${NAME}(${NAME}_files);
}  // namespace kvbudget::embedded
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
