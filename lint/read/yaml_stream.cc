// A text is split at its `---` lines and each document is read for itself, so that a broken one
// does not take its siblings along and positions stay those of the file.

#include <algorithm>

#include "lint/read/document.h"
#include "lint/read/json_check.h"
#include "lint/read/yaml_document.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

// Rendered charts hold a few hundred.
constexpr size_t kMaxDocuments = 10'000;
constexpr size_t kMaxErrors = 100;

bool is_break(char c) { return c == '\n' || c == '\r'; }

/// `---` or `...` alone, or with a blank behind it.
bool is_marker(std::string_view line, std::string_view marker) {
  if (line.substr(0, 3) != marker) return false;
  return line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r';
}

/// Length of the UTF-8 sequence at the front, 0 when it is none or a control character that YAML
/// does not allow.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  if (first < 0x80) {
    const bool control = first < 0x20 && first != '\t' && first != '\n' && first != '\r';
    return control || first == 0x7F ? 0 : 1;
  }
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return !overlong && !surrogate && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool too_large = first == 0xF4 && byte(1) >= 0x90;
    return !overlong && !too_large && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Reports the first character that no YAML file may hold. Reading goes on: it is mostly a comment
/// in another encoding.
void check_characters(const YamlInput& input, Document& out) {
  for (size_t i = 0; i < input.bytes.size();) {
    const size_t length = character_length(input.bytes.substr(i, 4));
    if (length == 0) {
      const bool control = static_cast<unsigned char>(input.bytes[i]) < 0x80;
      out.errors.push_back(
          {input.location(i, i + 1),
           control ? "a control character, which YAML does not allow" : "not valid UTF-8"});
      return;
    }
    i += length;
  }
}

class StreamReader {
 public:
  StreamReader(const YamlInput& input, Document& out) : input_(input), out_(out) {}

  void run(uint32_t begin) {
    uint32_t start = begin;  // of the document
    bool directives = true;  // `%YAML` lines may stand here
    for (uint32_t i = begin; i < input_.work.size();) {
      const size_t line_end = std::min(input_.work.find('\n', i), input_.work.size());
      const std::string_view line = input_.work.substr(i, line_end - i);
      const auto next = static_cast<uint32_t>(std::min(line_end + 1, input_.work.size()));
      if (is_marker(line, "---")) {
        document(start, i);
        start = i + 3;
        directives = false;
      } else if (is_marker(line, "...")) {
        document(start, i);
        start = next;
        directives = true;
      } else if (directives && !line.empty() && line[0] == '%') {
        start = next;
      } else if (!line.empty() && line[0] != '#' && line[0] != '\r') {
        directives = false;
      }
      i = next;
      if (count_ > kMaxDocuments) {
        out_.errors.push_back({input_.location(i, i), "more than 10000 documents in one file"});
        return;
      }
    }
    document(start, static_cast<uint32_t>(input_.work.size()));
  }

 private:
  void document(uint32_t begin, uint32_t end) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || is_break(c); };
    const auto* work = input_.work.data();
    if (std::all_of(work + begin, work + end, blank)) return;
    ++count_;
    read_document(input_, begin, end, budget_, out_);
  }

  const YamlInput& input_;
  Document& out_;
  MappingBuilder::Budget budget_;
  size_t count_ = 0;
};

Document read_stream(YamlInput input) {
  Document out;
  const std::string work = neutralise_templates(input.bytes);
  input.work = work;
  const std::string_view head = input.bytes.substr(0, 3);
  if (head.substr(0, 2) == "\xFF\xFE" || head.substr(0, 2) == "\xFE\xFF") {
    out.errors.push_back({input.location(0, 2), "the file is UTF-16, save it as UTF-8"});
    return out;
  }
  if (const size_t nul = input.bytes.find('\0'); nul != std::string_view::npos) {
    out.errors.push_back({input.location(nul, nul + 1), "a NUL byte: this is no text file"});
    return out;
  }
  check_characters(input, out);
  StreamReader(input, out).run(head == "\xEF\xBB\xBF" ? 3 : 0);
  if (out.errors.size() > kMaxErrors) out.errors.resize(kMaxErrors);
  return out;
}

bool is_json_name(std::string_view path) {
  constexpr std::string_view kSuffix = ".json";
  return path.size() >= kSuffix.size() && path.substr(path.size() - kSuffix.size()) == kSuffix;
}

}  // namespace

Document parse_yaml(const SourceFile& file) {
  YamlInput input;
  input.bytes = file.bytes();
  input.file = &file;
  Document out = read_stream(input);
  if (!is_json_name(file.path()) || has_template_action(file.bytes())) return out;
  if (const auto error = check_json(file.bytes())) {
    // YAML reads more than JSON does; where both complain one finding is enough.
    const size_t at = std::min<size_t>(error->offset, file.bytes().size());
    out.errors.assign(1,
                      {input.location(at, std::min(at + 1, file.bytes().size())), error->message});
  }
  return out;
}

Document parse_yaml(const SourceText& text) {
  YamlInput input;
  input.bytes = text.view();
  input.file = text.file();
  input.text = &text;
  return read_stream(input);
}

}  // namespace kvbudget
