// The escaping is ours: XML 1.0 has no way at all to write most control characters, so every text
// has to be looked through byte by byte before any library could take it, and what is left to do
// after that are some replacements.
#include "lint/report/markup.h"

#include "lint/report/utf8.h"

namespace kvbudget {
namespace {

/// One character of XML text, fit for attributes too, where a raw line break would become a blank.
std::string_view xml_character(std::string_view sequence) {
  switch (sequence[0]) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      break;
  }
  // XML 1.0, production 2 (Char); valid UTF-8 has no surrogates.
  const bool control = static_cast<unsigned char>(sequence[0]) < 0x20;
  const bool no_character = sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
  return control || no_character ? kReplacementCharacter : sequence;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  const std::string valid = valid_utf8(text);
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view sequence = rest.substr(0, utf8_sequence(rest));
    result += xml_character(sequence);
    rest.remove_prefix(sequence.size());
  }
  return result;
}

}  // namespace kvbudget
