// Flags after `docker run --help` of Docker 27. Only flags without a value need to be known, every
// other one takes the next word.

#include "lint/read/docker_run.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lint/read/docker_surroundings.h"
#include "lint/read/shell_words.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr std::array<std::string_view, 18> kSwitches = {"--detach",
                                                        "--init",
                                                        "--interactive",
                                                        "--no-healthcheck",
                                                        "--oom-kill-disable",
                                                        "--privileged",
                                                        "--publish-all",
                                                        "--quiet",
                                                        "--read-only",
                                                        "--replace",
                                                        "--rm",
                                                        "--rmi",
                                                        "--sig-proxy",
                                                        "--tty",
                                                        "--disable-content-trust",
                                                        "--help",
                                                        "--no-hosts",
                                                        "--use-api-socket"};

bool is_switch(std::string_view flag) {
  if (flag.substr(0, 2) == "--") {
    return std::find(kSwitches.begin(), kSwitches.end(), flag) != kSwitches.end();
  }
  return flag.find_first_not_of("ditPq", 1) == std::string_view::npos;  // `-dit`
}

/// Short flags whose value may be glued on: `-p8000:8000`.
bool has_glued_value(std::string_view flag) {
  return flag.size() > 2 && flag[1] != '-' &&
         std::string_view("pevumhwcal").find(flag[1]) != std::string_view::npos;
}

struct RunCommand {
  size_t program = 0;
  size_t arguments = 0;
};

std::optional<RunCommand> find_run(const std::vector<Word>& words) {
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view name = base_name(words[i].text.view());
    if (name != "docker" && name != "podman" && name != "nerdctl") continue;
    size_t next = i + 1;
    if (words[next].text.view() == "container") ++next;
    if (next >= words.size()) return std::nullopt;
    const std::string_view verb = words[next].text.view();
    if (verb == "run" || verb == "create") return RunCommand{i, next + 1};
  }
  return std::nullopt;
}

class RunReader {
 public:
  RunReader(const std::vector<Word>& words, size_t begin) : words_(words), pos_(begin) {}

  std::optional<ContainerRun> read() {
    run_.around.whole = true;
    while (pos_ < words_.size() && words_[pos_].text.view().substr(0, 1) == "-" &&
           words_[pos_].text.size() > 1) {
      flag();
    }
    skip_unknown_flags();
    if (pos_ >= words_.size()) return std::nullopt;
    run_.image = words_[pos_];
    run_.arguments.assign(words_.begin() + static_cast<std::ptrdiff_t>(pos_) + 1, words_.end());
    return std::move(run_);
  }

 private:
  void flag() {
    const Word& word = words_[pos_++];
    const std::string_view text = word.text.view();
    const size_t equals = text.find('=');
    if (text.substr(0, 2) == "--" && equals != std::string_view::npos) {
      return option(text.substr(0, equals), {word.text.substr(equals + 1), word.known});
    }
    if (has_glued_value(text)) return option(text.substr(0, 2), {word.text.substr(2), word.known});
    if (is_switch(text)) {
      run_.publishes_port = run_.publishes_port || text == "-P" || text == "--publish-all";
      run_.around.read_only_root = run_.around.read_only_root || text == "--read-only";
      run_.around.other_gpu_access = run_.around.other_gpu_access || text == "--privileged";
      return;
    }
    if (pos_ < words_.size()) option(text, words_[pos_++]);
  }

  void option(std::string_view name, const Word& value) {
    if (name == "-e" || name == "--env") {
      if (auto variable = as_assignment(value)) run_.env.push_back(std::move(*variable));
    } else if (name == "--gpus") {
      gpus(value);
    } else if (name == "--entrypoint") {
      run_.entrypoint = split_words(value);
    } else if (name == "-p" || name == "--publish") {
      run_.publishes_port = true;
    } else {
      add_docker_option(name, value, run_.around);
    }
  }

  /// `all`, a number, or `device=0,1` with quotes inside for Docker's CSV reader.
  void gpus(const Word& value) {
    run_.gpu.resource = "nvidia.com/gpu";
    if (!value.known) return;
    const std::string_view text = value.text.view();
    uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && end == text.data() + text.size()) {
      run_.gpu.count = {count, value.text.location()};
      return;
    }
    const size_t device = text.find("device=");
    if (device == std::string_view::npos) return;
    const std::string_view list = text.substr(device + 7);
    const auto commas = std::count(list.begin(), list.end(), ',');
    run_.gpu.count = {static_cast<uint32_t>(commas) + 1, value.text.location()};
  }

  /// `docker run $FLAGS IMAGE`: an unknown word may be flags; a later word that names a vLLM image
  /// is a better guess.
  void skip_unknown_flags() {
    if (pos_ >= words_.size() || words_[pos_].known) return;
    if (image_kind(words_[pos_].text.view()) != ImageKind::kOther) return;
    run_.around.whole = false;
    for (size_t i = pos_ + 1; i < words_.size(); ++i) {
      const std::string_view text = words_[i].text.view();
      if (text.substr(0, 1) == "-" || text == "vllm") return;
      if (image_kind(text) == ImageKind::kOther) continue;
      pos_ = i;
      return;
    }
  }

  const std::vector<Word>& words_;
  size_t pos_;
  ContainerRun run_;
};

}  // namespace

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<ContainerRun> read_container_run(const std::vector<Word>& words) {
  const std::optional<RunCommand> command = find_run(words);
  if (!command) return std::nullopt;
  auto run = RunReader(words, command->arguments).read();
  if (run) run->where = words[command->program].text.location();
  return run;
}

}  // namespace kvbudget
