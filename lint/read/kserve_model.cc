// URIs: kserve python/storage/kserve_storage (0.15): hf://ORG/NAME[:REVISION], pvc://, s3://,
// oci://.

#include "lint/read/kserve_model.h"

#include "lint/read/container.h"
#include "lint/read/flag_words.h"

namespace kvbudget {
namespace {

constexpr std::string_view kFolder = "/mnt/models";

bool is_folder(std::string_view text) {
  if (text.ends_with('/')) text.remove_suffix(1);
  return text == kFolder;
}

/// "org/name" of hf://org/name:revision, empty for other URIs.
SourceText hub_model(const SourceText& uri) {
  constexpr std::string_view kScheme = "hf://";
  if (!uri.view().starts_with(kScheme)) return {};
  const size_t end = uri.view().find(':', kScheme.size());
  return uri.substr(kScheme.size(), end == std::string_view::npos ? end : end - kScheme.size());
}

}  // namespace

Word mounted_model(const Node& uri) {
  SourceText model = hub_model(uri.text);
  if (model.empty()) return word_over(kFolder, uri.text);
  return {std::move(model), word_of(uri).known};
}

void name_mounted_model(const Node& uri, std::vector<Word>& argv) {
  const Word model = mounted_model(uri);
  if (is_folder(model.text.view())) return;
  constexpr std::string_view kFlag = "--model=";
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string_view text = argv[i].text.view();
    if (is_folder(text)) {
      argv[i] = model;
    } else if (text.starts_with(kFlag) && is_folder(text.substr(kFlag.size()))) {
      argv[i].text = argv[i].text.substr(0, kFlag.size() - 1);
      argv.insert(argv.begin() + static_cast<std::ptrdiff_t>(++i), model);
    }
  }
}

}  // namespace kvbudget
