package settings

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
)

// Setting describes a setting for people.
type Setting struct {
	Group    string
	Variable string
	Default  string // "" if it is required, or if nothing is used without a value
	Required bool
	Secret   bool   // its value may come from the file that Variable with the suffix _FILE names
	Allowed  string // the allowed values
	Meaning  string
	Change   string   // when to change it
	Roles    []string // that read it; none means every process
}

//go:embed settings.md
var settingsText string

// settingText is an entry of settings.md.
type settingText struct{ group, variable, meaning, change string }

// All returns every setting, in the order of Config.
func All() []Setting {
	texts := map[string]settingText{}
	_, entries := readSettingsText(settingsText)
	for _, t := range entries {
		texts[t.variable] = t
	}
	var list []Setting
	for _, f := range settingFields[Config]() {
		name, text := variable(f), texts[variable(f)]
		s := Setting{
			Group: text.group, Variable: name, Required: isRequired(f), Secret: isSecret(f),
			Default: defaultText(f), Allowed: wanted(f), Meaning: text.meaning, Change: text.change,
		}
		if roles := f.Tag.Get("roles"); roles != "" {
			s.Roles = strings.Split(roles, ",")
		}
		list = append(list, s)
	}
	return list
}

// readSettingsText reads settings.md: the introductions of the groups, by their headings,
// and the entries.
func readSettingsText(text string) (introductions map[string]string, entries []settingText) {
	introductions = map[string]string{}
	group := ""
	text = strings.ReplaceAll(text, "](../../docs/", "](") // links are relative to docs
	for block := range strings.SplitSeq(text, "\n\n") {
		block = strings.TrimSpace(block)
		heading, rest, _ := strings.Cut(block, "\n")
		name, isEntry := strings.CutPrefix(heading, "### ")
		title, isGroup := strings.CutPrefix(heading, "## ")
		switch {
		case isEntry:
			entries = append(entries, settingText{group: group, variable: name, meaning: rest})
		case isGroup:
			group = title
			introductions[group] = ""
		case len(entries) > 0 && entries[len(entries)-1].group == group:
			last := &entries[len(entries)-1]
			last.change = strings.TrimSpace(last.change + " " + block)
		case group != "":
			introductions[group] = block
		}
	}
	return introductions, entries
}

// defaultText returns the value of a setting that is not set.
func defaultText(f reflect.StructField) string {
	text, without := f.Tag.Get("envDefault"), f.Tag.Get("unset")
	switch {
	case without != "":
		return without
	case text != "":
		return text + sizeText(f, text)
	case isRequired(f):
		return ""
	case f.Type.Kind() == reflect.Bool:
		return "false"
	case isNumber(f):
		return "0"
	}
	return ""
}

// sizeText returns the unit of a number, and large numbers of bytes in a larger one.
func sizeText(f reflect.StructField, text string) string {
	unit := f.Tag.Get("unit")
	if unit == "" {
		return ""
	}
	var n int64
	if _, err := fmt.Sscan(text, &n); err == nil && unit == "bytes" {
		for i, name := range []string{"GiB", "MiB"} {
			if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
				return fmt.Sprintf(" bytes (%d %s)", n/size, name)
			}
		}
	}
	return " " + unit
}
