// What a shell script writes down: here-documents that are manifests (`kubectl apply -f - <<EOF`),
// config files of vLLM (`cat > config.yaml <<EOF`) or scripts.
#pragma once

#include <string>
#include <vector>

#include "lint/read/engine_start.h"
#include "lint/read/shell_words.h"

namespace kvbudget {

struct HereDocument {
  SourceText text;   ///< with the variables that are known at that place
  std::string path;  ///< of the file that it goes to, as far as the script tells; empty: a pipe
  bool script = false;
};

/// Adds what a command reads, and where it puts it.
void add_documents(const ShellCommand& command, std::vector<HereDocument>& documents);

std::vector<HereDocument> here_documents(const SourceText& script);

/// The keys of the config file that `--config` names, if one of the documents is it.
std::vector<ConfigKey> written_config(const std::vector<HereDocument>& documents,
                                      const std::vector<Word>& argv);

/// Adds the engines that stand in the documents. `out` holds what the script itself starts.
void add_written_engines(const SourceFile& file, const std::vector<HereDocument>& documents,
                         FileContents& out);

/// Whatever still holds an expansion is not known.
void mark_unknown_parts(EngineStart& start);

}  // namespace kvbudget
