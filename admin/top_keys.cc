#include "admin/top_keys.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "admin/escape.h"
#include "admin/exchange_text.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

using Kind = TopKey::Kind;

constexpr int kPage = 10;

/// Adds a key to a line of text, or takes the last character of it away.
void Edit(const TopKey& key, std::string* text) {
  if (key.kind == Kind::kCharacter) text->push_back(key.character);
  if (key.kind != Kind::kBackspace || text->empty()) return;
  const auto goes_on = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (text->size() > 1 && goes_on(text->back())) text->pop_back();
  text->pop_back();
}

}  // namespace

TopKeys::Action TopKeys::Press(const TopKey& key) {
  switch (mode_) {
    case Mode::kBrowse:
      return Browse(key);
    case Mode::kFilter:
      TypeFilter(key);
      return {};
    case Mode::kReason:
      TypeReason(key);
      return {};
    case Mode::kConfirm:
      return Confirm(key);
    case Mode::kHelp:
      mode_ = Mode::kBrowse;
      return {};
  }
  return {};
}

std::string TopKeys::Prompt() const {
  switch (mode_) {
    case Mode::kBrowse:
      return "q quit  s sort  r reverse  / filter  arrows select  k cancel  p pause  h help";
    case Mode::kFilter:
      return absl::StrCat("filter (Enter keeps it, Esc drops it): ", EscapeText(typed_), "_");
    case Mode::kReason:
      return absl::StrCat("cancel ", victim_text_,
                          "? Why (Enter goes on, Esc leaves it): ", EscapeText(typed_), "_");
    case Mode::kConfirm:
      return absl::StrCat("cancel ", victim_text_, "? Press y to do it, any other key to leave it");
    case Mode::kHelp:
      return "any key to go back";
  }
  return "";
}

std::vector<TopLine> TopKeys::HelpLines() {
  return {
      {"q          quit"},
      {"s          sort by the next column"},
      {"r          reverse the order"},
      {"/          show only streams whose id, model, endpoint, client or phase contain a text"},
      {"arrows     select a stream; PgUp and PgDn go ten at once"},
      {"k          cancel the selected stream: asks why, then whether"},
      {"p          pause, and go on"},
      {"h          show this"},
      {""},
      {"TOKENS are those of the prompt and those generated, as far as reported. Frames a second"},
      {"are of the streams listed, between the last two looks. IDLE: since the last piece."}};
}

TopKeys::Action TopKeys::Browse(const TopKey& key) {
  switch (key.kind) {
    case Kind::kUp:
      model_.MoveSelection(-1);
      return {};
    case Kind::kDown:
      model_.MoveSelection(1);
      return {};
    case Kind::kPageUp:
      model_.MoveSelection(-kPage);
      return {};
    case Kind::kPageDown:
      model_.MoveSelection(kPage);
      return {};
    case Kind::kCharacter:
      break;
    default:
      return {};
  }
  switch (key.character) {
    case 'q':
      return {.kind = Action::Kind::kQuit, .exchange = "", .reason = ""};
    case 's':
      model_.SortByNext();
      break;
    case 'r':
      model_.Reverse();
      break;
    case 'p':
      model_.SetPaused(!model_.paused());
      break;
    case '/':
      mode_ = Mode::kFilter;
      typed_ = model_.filter();
      break;
    case 'k':
      if (const auto* exchange = model_.selected_exchange()) {
        mode_ = Mode::kReason;
        typed_.clear();
        victim_ = exchange->id();
        victim_text_ = absl::StrCat(ShortIdText(exchange->id()), ", ",
                                    EscapeName(exchange->model()), " at ", PlaceText(*exchange));
      }
      break;
    case 'h':
    case '?':
      mode_ = Mode::kHelp;
      break;
    default:
      break;
  }
  return {};
}

void TopKeys::TypeFilter(const TopKey& key) {
  Edit(key, &typed_);
  if (key.kind == Kind::kEscape) typed_.clear();
  if (key.kind == Kind::kEscape || key.kind == Kind::kEnter) mode_ = Mode::kBrowse;
  model_.SetFilter(typed_);
}

void TopKeys::TypeReason(const TopKey& key) {
  Edit(key, &typed_);
  if (key.kind == Kind::kEscape) mode_ = Mode::kBrowse;
  if (key.kind == Kind::kEnter) mode_ = Mode::kConfirm;
}

TopKeys::Action TopKeys::Confirm(const TopKey& key) {
  mode_ = Mode::kBrowse;
  if (key.kind != Kind::kCharacter || key.character != 'y') return {};
  return {.kind = Action::Kind::kCancel, .exchange = victim_, .reason = typed_};
}

}  // namespace sluice::admin
