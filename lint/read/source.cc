#include "lint/read/source.h"

#include <algorithm>
#include <utility>

namespace kvbudget {

SourceFile::SourceFile(std::string path, std::string bytes)
    : path_(std::move(path)), bytes_(std::move(bytes)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    // A lone CR ends a line too (YAML 1.2 §5.4); CR LF counts once.
    const bool lone_cr = bytes_[i] == '\r' && (i + 1 == bytes_.size() || bytes_[i + 1] != '\n');
    if (bytes_[i] == '\n' || lone_cr) line_starts_.push_back(static_cast<uint32_t>(i + 1));
  }
}

Position SourceFile::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(bytes_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  Position result;
  result.line = static_cast<uint32_t>(after - line_starts_.begin());
  for (uint32_t i = line_starts_[result.line - 1]; i < offset; ++i) {
    const bool continuation = (static_cast<unsigned char>(bytes_[i]) & 0xC0U) == 0x80U;
    if (!continuation) ++result.column;
  }
  return result;
}

uint32_t SourceFile::line_start(uint32_t line) const {
  if (line == 0) return 0;
  return line <= line_starts_.size() ? line_starts_[line - 1]
                                     : static_cast<uint32_t>(bytes_.size());
}

std::string_view SourceFile::line_text(uint32_t line) const {
  if (line == 0 || line > line_starts_.size()) return {};
  const uint32_t begin = line_start(line);
  std::string_view text = bytes();
  text = text.substr(begin, line_start(line + 1) - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

SourceText::SourceText(std::string text) : text_(std::move(text)) {}

SourceText::SourceText(const SourceFile& file, ByteRange range) : file_(&file), anchor_(range) {
  text_ = std::string(file.bytes().substr(range.begin, range.end - range.begin));
  offsets_.resize(text_.size());
  for (size_t i = 0; i < offsets_.size(); ++i) offsets_[i] = range.begin + static_cast<uint32_t>(i);
}

SourceText SourceText::empty_at(const SourceFile* file, ByteRange anchor) {
  SourceText result;
  result.file_ = file;
  result.anchor_ = anchor;
  return result;
}

void SourceText::append(char byte, uint32_t offset) {
  text_.push_back(byte);
  if (file_ != nullptr) offsets_.push_back(offset);
}

void SourceText::append(const SourceText& other) {
  if (text_.empty() && file_ == nullptr) {
    *this = other;
    return;
  }
  if (file_ == other.file_) {
    text_ += other.text_;
    offsets_.insert(offsets_.end(), other.offsets_.begin(), other.offsets_.end());
    return;
  }
  append_synthetic(other.text_, offset(size()));
}

void SourceText::append_synthetic(std::string_view text, uint32_t at) {
  text_ += text;
  if (file_ != nullptr) offsets_.insert(offsets_.end(), text.size(), at);
}

SourceText SourceText::substr(size_t begin, size_t count) const {
  begin = std::min(begin, size());
  count = std::min(count, size() - begin);
  SourceText result = empty_at(file_, {offset(begin), offset(begin)});
  result.text_ = text_.substr(begin, count);
  if (file_ != nullptr) {
    const auto first = offsets_.begin() + static_cast<std::ptrdiff_t>(begin);
    result.offsets_.assign(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

uint32_t SourceText::offset(size_t i) const {
  if (file_ == nullptr) return 0;
  if (offsets_.empty()) return anchor_.begin;
  return i < offsets_.size() ? offsets_[i] : offsets_.back() + 1;
}

Location SourceText::location() const {
  if (file_ == nullptr) return {};
  if (offsets_.empty()) return {file_, anchor_};
  return {file_, {offsets_.front(), *std::max_element(offsets_.begin(), offsets_.end()) + 1}};
}

}  // namespace kvbudget
