// Collects the bytes of shell words and splits them where the shell would.
#pragma once

#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

class WordBuilder {
 public:
  /// Words go to `out`. `origin` gives the place of words that turn out empty.
  WordBuilder(std::vector<Word>& out, const SourceFile* file, uint32_t origin)
      : out_(out), text_(SourceText::empty_at(file, {origin, origin})) {}

  void add(char byte, uint32_t offset) {
    text_.append(byte, offset);
    open_ = true;
  }
  void add(const SourceText& text) {
    text_.append(text);
    open_ = true;
  }
  /// Something was quoted: the word exists even when it is empty.
  void keep() { open_ = true; }
  void set_unknown() { known_ = false; }
  bool is_open() const { return open_; }

  /// Ends the word in hand, if there is one.
  void split() {
    if (!open_) return;
    const Location where = text_.location();
    SourceText next = SourceText::empty_at(text_.file(), {where.range.end, where.range.end});
    out_.push_back({std::move(text_), known_});
    text_ = std::move(next);
    open_ = false;
    known_ = true;
  }

 private:
  std::vector<Word>& out_;
  SourceText text_;
  bool open_ = false;
  bool known_ = true;
};

}  // namespace kvbudget
