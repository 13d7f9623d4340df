// Finds the card behind a spelling. Nearly all spellings are the card's name with noise around it
// (vendor, form factor, separators), so the rules here take the noise away and gpu_names.tsv holds
// only what is left: "NVIDIA-A100-SXM4-40GB" and "a100-40" are both the words "a100" and a size.
#include "lint/engine/gpus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "lint/engine/table.h"

namespace kvbudget {
namespace {

using Words = std::vector<std::string>;
using Candidates = std::vector<const Gpu*>;

// Words that never tell two cards of the table apart.
constexpr std::array<std::string_view, 45> kNoise = {
    "nvidia",      "amd",        "intel",   "r",       "tm",         "geforce", "tesla", "instinct",
    "radeon",      "nvidia.com", "amd.com", "gpu",     "graphics",   "tensor",  "core",  "mig",
    "generation",  "blackwell",  "server",  "edition", "sxm",        "sxm2",    "sxm3",  "sxm4",
    "sxm5",        "sxm6",       "ac",      "pcie",    "pci",        "nvlink",  "oam",   "hbm2",
    "hbm2e",       "hbm3",       "hbm3e",   "mega",    "shared",     "vf",      "max",   "q",
    "workstation", "gb",         "gib",     "card",    "accelerator"};

bool is_noise(std::string_view word) {
  return std::find(kNoise.begin(), kNoise.end(), word) != kNoise.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Words words_of(std::string_view name) {
  Words words(1);
  for (const char c : name) {
    if (std::string_view(" _-/()\t").find(c) != std::string_view::npos) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string key_of(const Words& words) {
  std::string key;
  for (const std::string& word : words) key += word;
  return key;
}

/// "3g.40gb" of a word such as "3g.40gb" or "1g.10gb.me"; empty when the word is no MIG profile.
std::string_view mig_profile(std::string_view word) {
  const size_t dot = word.find("g.");
  const size_t unit = word.find("gb", dot == std::string_view::npos ? 0 : dot + 2);
  if (dot == std::string_view::npos || unit == std::string_view::npos) return {};
  if (dot == 0 || unit == dot + 2 || !std::all_of(word.begin(), word.begin() + dot, is_digit)) {
    return {};
  }
  return word.substr(0, unit + 2);
}

/// Nominal size said by a word ("80gb", "80g", "80"), 0 when the word is no size.
uint32_t nominal_gigabytes(std::string_view word) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc()) return 0;
  const std::string_view unit = word.substr(static_cast<size_t>(end - word.data()));
  return unit.empty() || unit == "g" || unit == "gb" || unit == "gib" ? value : 0;
}

/// Drivers report up to 12 % less than the nominal size, and it is counted in GB on some boxes.
bool fits_nominal(const Gpu& gpu, uint32_t gigabytes) {
  const double gib = static_cast<double>(gpu.memory_bytes) / 1073741824.0;
  return gib >= 0.88 * gigabytes && gib <= 1.01 * gigabytes;
}

uint64_t parse_memory(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const bool mib = text.substr(static_cast<size_t>(end - text.data())) == "MiB";
  return static_cast<uint64_t>(std::llround(value * (mib ? 1048576.0 : 1073741824.0)));
}

ComputeCapability parse_capability(std::string_view text) {
  ComputeCapability capability;
  const auto [dot, error] =
      std::from_chars(text.data(), text.data() + text.size(), capability.major);
  if (error != std::errc() || dot == text.data() + text.size()) return {};
  std::from_chars(dot + 1, text.data() + text.size(), capability.minor);
  return capability;
}

class GpuTable {
 public:
  GpuTable() {
    for (const TableRow& row : read_engine_table("gpus.tsv", 8)) {
      gpus_.push_back({.name = std::string(row[0]),
                       .memory_bytes = parse_memory(row[1]),
                       .capability = parse_capability(row[4]),
                       .vendor = std::string(row[5]),
                       .device_name = std::string(row[6]),
                       .source = std::string(row[7]),
                       .memory_low_bytes = parse_memory(row[2]),
                       .memory_high_bytes = parse_memory(row[3])});
    }
    for (const Gpu& gpu : gpus_) by_name_.emplace(gpu.name, &gpu);
    index_spellings();
  }

  std::span<const Gpu> gpus() const { return gpus_; }

  Candidates find(const Words& spelled) const {
    Candidates found = find_key(key_of(spelled));
    if (!found.empty()) return found;
    Words words;
    std::string profile;
    for (const std::string& word : spelled) {
      if (const std::string_view said = mig_profile(word); !said.empty()) {
        profile = said;
      } else if (!is_noise(word)) {
        words.push_back(word);
      }
    }
    return profile.empty() ? find_card(words) : find_slice(words, profile);
  }

 private:
  void index_spellings() {
    for (const TableRow& row : read_engine_table("gpu_names.tsv", 4)) {
      Candidates& cards = by_spelling_[key_of(words_of(row[0]))];
      for (size_t i = 1; i < row.size(); ++i) {
        if (const auto card = by_name_.find(std::string(row[i])); card != by_name_.end()) {
          cards.push_back(card->second);
        }
      }
    }
    for (const Gpu& gpu : gpus_) index(gpu, gpu.name);
    // After all names, so that a device name shared by two cards means the first of them.
    for (const Gpu& gpu : gpus_) index(gpu, gpu.device_name);
  }

  void index(const Gpu& gpu, std::string_view spelling) {
    Words words = words_of(spelling);
    by_spelling_.try_emplace(key_of(words), Candidates{&gpu});
    std::erase_if(words, is_noise);
    by_spelling_.try_emplace(key_of(words), Candidates{&gpu});
  }

  Candidates find_key(const std::string& key) const {
    const auto found = by_spelling_.find(key);
    return found == by_spelling_.end() ? Candidates{} : found->second;
  }

  Candidates find_card(Words words) const {
    const std::string key = key_of(words);
    for (const std::string& spelling : {key, "rtx" + key}) {
      if (Candidates found = find_key(spelling); !found.empty()) return found;
    }
    const uint32_t gigabytes = words.size() < 2 ? 0 : nominal_gigabytes(words.back());
    if (gigabytes == 0) return {};
    words.pop_back();
    Candidates found = find_card(std::move(words));
    std::erase_if(found, [&](const Gpu* gpu) { return !fits_nominal(*gpu, gigabytes); });
    return found;
  }

  /// Slices of that profile: of the card that is named, else of any card.
  Candidates find_slice(const Words& words, const std::string& profile) const {
    const std::string ending = "-MIG-" + profile;
    Candidates found;
    if (words.empty()) {
      for (const Gpu& gpu : gpus_) {
        if (gpu.name.ends_with(ending)) found.push_back(&gpu);
      }
    }
    for (const Gpu* card : find_card(words)) {
      const auto slice = by_name_.find(card->name + ending);
      if (slice != by_name_.end()) found.push_back(slice->second);
    }
    return found;
  }

  std::vector<Gpu> gpus_;
  std::unordered_map<std::string, const Gpu*> by_name_;
  std::unordered_map<std::string, Candidates> by_spelling_;
};

const GpuTable& table() {
  static const GpuTable gpu_table;
  return gpu_table;
}

}  // namespace

std::span<const Gpu> all_gpus() { return table().gpus(); }

std::vector<const Gpu*> gpu_candidates(std::string_view name) {
  return table().find(words_of(name));
}

const Gpu* find_gpu(std::string_view name) {
  const std::vector<const Gpu*> found = gpu_candidates(name);
  return found.size() == 1 ? found.front() : nullptr;
}

}  // namespace kvbudget
