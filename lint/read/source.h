// Where things stand in the files we read.
//
// Findings point into the user's file, also when the text that is wrong went through several hands
// on the way: a YAML block scalar holds a shell script, the script holds a quoted word, the word
// holds a JSON value. SourceText is a string that remembers, byte by byte, which byte of the file
// it came from, so that every later stage can cut and join text freely and still name the exact
// place. Offsets are bytes; lines and columns appear only at the edge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvbudget {

/// 1-based line and column; the column counts Unicode code points, as editors do.
struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// Half-open range of byte offsets in one file.
struct ByteRange {
  uint32_t begin = 0;
  uint32_t end = 0;
  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

/// Larger files are not read: no deployment file comes near, and every stage may assume 32-bit
/// offsets.
constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

/// A file as it was read. Immutable once made; everything else points into it.
class SourceFile {
 public:
  /// `bytes` must be smaller than 4 GiB (readers cap files far below that).
  SourceFile(std::string path, std::string bytes);

  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }

  /// Offsets past the end give the position just behind the last byte.
  Position position(uint32_t offset) const;
  /// Byte offset where 1-based `line` begins; the end of the file for lines past it.
  uint32_t line_start(uint32_t line) const;
  /// The text of a 1-based line without its line break; empty past the end.
  std::string_view line_text(uint32_t line) const;
  uint32_t line_count() const { return static_cast<uint32_t>(line_starts_.size()); }

 private:
  std::string path_;
  std::string bytes_;
  std::vector<uint32_t> line_starts_;  // byte offset of each line, first is 0
};

/// A place in a file. `file` is null for values that no file holds (command line of kvbudget
/// itself, defaults).
struct Location {
  const SourceFile* file = nullptr;
  ByteRange range;
  explicit operator bool() const { return file != nullptr; }
};

/// A value and the place it was read from.
template <typename T>
struct Located {
  T value{};
  Location where;
};

/// A string that knows the source byte of each of its bytes.
class SourceText {
 public:
  SourceText() = default;
  /// Text without a source (a default, an argument of our own command line).
  explicit SourceText(std::string text);
  /// The bytes [range.begin, range.end) of `file`, as they stand.
  SourceText(const SourceFile& file, ByteRange range);
  /// An empty text to append to; `anchor` is what location() gives while nothing was appended.
  static SourceText empty_at(const SourceFile* file, ByteRange anchor);

  const std::string& str() const { return text_; }
  std::string_view view() const { return text_; }
  size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  char operator[](size_t i) const { return text_[i]; }

  /// Appends one byte that came from `offset` of the same file.
  void append(char byte, uint32_t offset);
  /// Appends `other`; when the two are of different files the result keeps the first file's anchor.
  void append(const SourceText& other);
  /// Appends text that stands nowhere (an expanded default); it borrows the offset `at`.
  void append_synthetic(std::string_view text, uint32_t at);

  SourceText substr(size_t begin, size_t count = std::string::npos) const;
  /// Offset in the file of byte `i`; `i == size()` gives the byte behind the last one.
  uint32_t offset(size_t i) const;
  const SourceFile* file() const { return file_; }
  /// From the first byte of the text to the last of the file that it has; the anchor when empty.
  /// Text that was put together begins where its first part stands, also if later parts (values of
  /// variables) stand in front of it.
  Location location() const;

 private:
  const SourceFile* file_ = nullptr;
  std::string text_;
  std::vector<uint32_t> offsets_;  // one per byte of text_; empty when file_ is null
  ByteRange anchor_;
};

}  // namespace kvbudget
