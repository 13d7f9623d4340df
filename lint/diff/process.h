// Other programs, started without a shell: a word is never anything but a word.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kvbudget {

struct ProcessResult {
  int code = -1;  ///< exit code; -1 when the program could not be started or was killed
  std::string out, err;
  std::string failure;  ///< why it could not be started
};

/// Runs words[0] (found through $PATH) to its end, with `variables` ("NAME=value") before those of
/// our own environment and nothing on its standard input.
ProcessResult run_process(const std::vector<std::string>& words,
                          const std::vector<std::string>& variables);

/// A program that answers one question after another on its standard output.
class Conversation {
 public:
  Conversation(const std::vector<std::string>& words, const std::vector<std::string>& variables);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// All of these are false once the program has gone.
  bool say(const std::string& text);
  bool read_line(std::string& line);  ///< without its line break
  bool read_bytes(uint64_t count, std::string& bytes);
  bool skip_bytes(uint64_t count);

 private:
  bool fill();

  int socket_ = -1;
  pid_t child_ = -1;
  std::string buffer_;  ///< received and not taken yet, from `begin_`
  size_t begin_ = 0;
};

}  // namespace kvbudget
