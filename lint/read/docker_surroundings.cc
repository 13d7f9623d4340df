// Options after `docker run --help` of Docker 27.
#include "lint/read/docker_surroundings.h"

#include <charconv>
#include <string>
#include <vector>

#include "lint/read/quantity.h"

namespace kvbudget {
namespace {

std::optional<Located<uint64_t>> bytes_of(const Word& value) {
  const auto bytes = value.known ? parse_compose_bytes(value.text.view()) : std::nullopt;
  return bytes ? std::optional(Located<uint64_t>{*bytes, value.text.location()}) : std::nullopt;
}

/// "type=bind,source=/a,target=/b": the value of the first of these keys that is there.
std::string_view field_of(std::string_view text, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view part = text.substr(begin, end - begin);
      if (part.starts_with(key) && part.substr(key.size()).starts_with('=')) {
        return part.substr(key.size() + 1);
      }
      begin = end + 1;
    }
  }
  return {};
}

void add_mount(const Word& value, Surroundings& around) {
  const std::string_view text = value.text.view();
  Mount mount;
  mount.where = value.text.location();
  mount.path = std::string(field_of(text, {"target", "destination", "dst"}));
  const std::string_view type = field_of(text, {"type"});
  mount.kind = type == "tmpfs"  ? Mount::Kind::kMemory
               : type == "bind" ? Mount::Kind::kHostPath
                                : Mount::Kind::kClaim;
  if (!mount.path.empty()) around.mounts.push_back(std::move(mount));
}

void set_user(const Word& value, Surroundings& around) {
  const std::string_view text = value.text.view();
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (!value.known || error != std::errc()) return;
  around.run_as_user = {id, value.text.location()};
  around.security_where = value.text.location();
}

bool shares(std::string_view ipc) {
  return ipc == "host" || ipc.starts_with("container:") || ipc.starts_with("service:");
}

}  // namespace

Mount read_volume(std::string_view text, const Location& where) {
  // `${HOME:-/root}/models:/models`: colons of a variable are none of the volume's.
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == ':' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const bool named = parts.size() > 1;
  Mount mount;
  mount.where = where;
  mount.path = named ? parts[1] : parts[0];
  mount.read_only = parts.size() > 2 && parts[2].find("ro") != std::string::npos;
  const bool bound = named && parts[0].find_first_of("/.~$") != std::string::npos;
  mount.kind = bound ? Mount::Kind::kHostPath : Mount::Kind::kClaim;
  return mount;
}

void add_docker_option(std::string_view name, const Word& value, Surroundings& around) {
  const std::string_view text = value.text.view();
  if (name == "--ipc") {
    around.host_ipc = !value.known || shares(text);
  } else if (name == "--shm-size") {
    around.shm_bytes = bytes_of(value);
    if (!around.shm_bytes) around.host_ipc = true;  // as much as somebody else says
  } else if (name == "-m" || name == "--memory") {
    around.memory_limit_bytes = bytes_of(value);
  } else if (name == "--cpus") {
    const auto cores = value.known ? parse_quantity(text) : std::nullopt;
    if (cores) around.cpu_limit = {*cores, value.text.location()};
  } else if (name == "-v" || name == "--volume") {
    around.mounts.push_back(read_volume(text, value.text.location()));
  } else if (name == "--mount") {
    add_mount(value, around);
  } else if (name == "--tmpfs") {
    Mount mount;
    mount.kind = Mount::Kind::kMemory;
    mount.path = std::string(text.substr(0, text.find(':')));
    mount.where = value.text.location();
    around.mounts.push_back(std::move(mount));
  } else if (name == "-u" || name == "--user") {
    set_user(value, around);
  } else if (name == "--runtime" || name == "--device") {
    around.other_gpu_access = true;
  } else if (name == "--env-file") {
    around.more_variables = true;
  }
}

}  // namespace kvbudget
