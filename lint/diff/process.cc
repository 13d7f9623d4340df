#include "lint/diff/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace kvbudget {
namespace {

constexpr size_t kChunkBytes = 65536;

/// Descriptors 0, 1 and 2 of a program; below zero: /dev/null.
struct Streams {
  int in = -1, out = -1, err = -1;
};

/// Starts the program; 0, or the errno of what went wrong.
int spawn(const std::vector<std::string>& words, const std::vector<std::string>& variables,
          const Streams& streams, pid_t& child) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  const int given[] = {streams.in, streams.out, streams.err};
  for (int i = 0; i < 3; ++i) {
    if (given[i] >= 0) {
      posix_spawn_file_actions_adddup2(&actions, given[i], i);
    } else {
      posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0);
    }
  }
  // getenv() takes the first of two, so ours come first.
  std::vector<char*> environment;
  for (const std::string& text : variables) environment.push_back(const_cast<char*>(text.c_str()));
  for (char** text = environ; *text != nullptr; ++text) environment.push_back(*text);
  environment.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_write_end();
    if (read_end >= 0) close(read_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write_end() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

// Both at once: a program that waits for room in one of them would never end the other.
void gather(const Pipe& out, const Pipe& err, ProcessResult& result) {
  std::array<pollfd, 2> waiting = {pollfd{out.read_end, POLLIN, 0},
                                   pollfd{err.read_end, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&result.out, &result.err};
  std::vector<char> chunk(kChunkBytes);
  for (int open = 2; open > 0;) {
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t count = read(waiting[i].fd, chunk.data(), chunk.size());
      if (count > 0) texts[i]->append(chunk.data(), static_cast<size_t>(count));
      if (count > 0 || (count < 0 && errno == EINTR)) continue;
      waiting[i].fd = -1;
      --open;
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& words,
                          const std::vector<std::string>& variables) {
  ProcessResult result;
  Pipe out, err;
  pid_t child = -1;
  if (const int error = spawn(words, variables, {-1, out.write_end, err.write_end}, child)) {
    result.failure = words.front() + ": " + std::strerror(error);
    return result;
  }
  out.close_write_end();
  err.close_write_end();
  gather(out, err, result);
  result.code = wait_for(child);
  return result;
}

// A socket in place of two pipes: writing to a program that has gone must not raise SIGPIPE.
Conversation::Conversation(const std::vector<std::string>& words,
                           const std::vector<std::string>& variables) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  if (spawn(words, variables, {ends[1], ends[1], -1}, child_) != 0) child_ = -1;
  socket_ = ends[0];
  close(ends[1]);
}

Conversation::~Conversation() {
  if (socket_ >= 0) close(socket_);
  if (child_ > 0) wait_for(child_);
}

bool Conversation::say(const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

bool Conversation::fill() {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  std::array<char, kChunkBytes> chunk;
  ssize_t count = 0;
  do {
    count = recv(socket_, chunk.data(), chunk.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(chunk.data(), static_cast<size_t>(count));
  return true;
}

bool Conversation::read_line(std::string& line) {
  size_t end = 0;
  while ((end = buffer_.find('\n', begin_)) == std::string::npos) {
    if (!fill()) return false;
  }
  line = buffer_.substr(begin_, end - begin_);
  begin_ = end + 1;
  return true;
}

bool Conversation::read_bytes(uint64_t count, std::string& bytes) {
  bytes.clear();
  while (bytes.size() < count) {
    if (begin_ == buffer_.size() && !fill()) return false;
    const size_t taken = std::min<size_t>(buffer_.size() - begin_, count - bytes.size());
    bytes.append(buffer_, begin_, taken);
    begin_ += taken;
  }
  return true;
}

bool Conversation::skip_bytes(uint64_t count) {
  while (count > 0) {
    if (begin_ == buffer_.size() && !fill()) return false;
    const size_t taken = std::min<size_t>(buffer_.size() - begin_, count);
    begin_ += taken;
    count -= taken;
  }
  return true;
}

}  // namespace kvbudget
