# Turns text files into one C++ source: for each file a {name, text} pair of string_views.
#
#   cmake -DNAME=facts -DFILES=a.tsv|b.tsv -DOUTPUT=facts.cc -P EmbedText.cmake
#
# declares nothing; the user writes
#   namespace kvbudget::embedded { struct File { std::string_view name, text; }; extern const std::span<const File> facts; }
# (cmake/embedded.h). Long texts are cut into pieces, since compilers limit the length of one literal.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
foreach(path IN LISTS FILES)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND arrays "constexpr unsigned char ${id}[] = {${bytes}0};\n")
  string(APPEND entries
    "    {\"${name}\", {reinterpret_cast<const char*>(${id}), sizeof(${id}) - 1}},\n")
endforeach()
file(WRITE ${OUTPUT}.new
"#include \"cmake/embedded.h\"
namespace {
${arrays}}  // namespace
namespace kvbudget::embedded {
static const File ${NAME}_files[] = {
${entries}};
const std::span<const File> ${NAME}(${NAME}_files);
}  // namespace kvbudget::embedded
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
