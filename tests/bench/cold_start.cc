// What one start of the linter costs in CPU time, beside the cheapest process there is and beside
// the start of Python, which every linter written in Python pays before it does anything.
//
//   cold_start ROOT    prints the median of 41 runs of each; ROOT is the checkout
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 41;
constexpr int kNotFound = 127;

double milliseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

// User and system time of one process, nullopt when it could not be started.
std::optional<double> run_once(std::vector<char*>& words) {
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execvp(words[0], words.data());
    _exit(kNotFound);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) == kNotFound) return std::nullopt;
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

void measure(const std::string& title, std::vector<std::string> command) {
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const std::optional<double> time = run_once(words);
    if (!time) {
      std::printf("%-32s not there\n", title.c_str());
      return;
    }
    times.push_back(*time);
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  std::printf("%-32s %7.2f ms\n", title.c_str(), times[kRuns / 2]);
}

constexpr const char* kDeployment =
    "services:\n"
    "  chat:\n"
    "    image: vllm/vllm-openai:v0.19.0\n"
    "    command: [--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=8192]\n";

}  // namespace

int main(int argc, char** argv) {
  const std::string root = argc > 1 ? argv[1] : ".";
  const std::string file = root + "/build/bench.yaml";
  std::ofstream(file) << kDeployment;
  std::printf("CPU time of one start (user + system), median of %d\n", kRuns);
  measure("/bin/true", {"/bin/true"});
  measure("kvbudget lint one-file", {root + "/build/release/kvbudget", "lint", "--gpu=L4", file});
  measure("python3 -c pass", {"python3", "-c", "pass"});
  return 0;
}
