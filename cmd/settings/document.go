package settings

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

//go:generate go run ./internal/document ../../docs/settings.md

// group is a heading of settings.md with the settings below it.
type group struct {
	title, introduction string
	settings            []Setting
}

func groups() []group {
	introductions, _ := readSettingsText(settingsText)
	var groups []group
	for _, s := range All() {
		if len(groups) == 0 || groups[len(groups)-1].title != s.Group {
			groups = append(groups, group{title: s.Group, introduction: introductions[s.Group]})
		}
		last := &groups[len(groups)-1]
		last.settings = append(last.settings, s)
	}
	return groups
}

// Document returns the settings in Markdown, for docs/settings.md: a table for
// each group, with headings of the third level.
func Document() string {
	var b strings.Builder
	for _, g := range groups() {
		fmt.Fprintf(&b, "### %s\n\n", g.title)
		if g.introduction != "" {
			fmt.Fprintf(&b, "%s\n\n", g.introduction)
		}
		b.WriteString("| setting | default | allowed | roles | meaning | when to change it |\n|---|---|---|---|---|---|\n")
		for _, s := range g.settings {
			name, without := "`"+s.Variable+"`", s.Default
			if s.Secret {
				name += " (secret)"
			}
			if s.Required {
				without = "required"
			}
			row := strings.Join([]string{
				name, without, s.Allowed, cmp.Or(strings.Join(s.Roles, ", "), "all"), s.Meaning, s.Change,
			}, " | ")
			fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(row, "\n", " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

var markdownLink = regexp.MustCompile(`\[[^\]]*\]\(([^)]*)\)`)

// Help returns the settings as text, for 'netsim serve --help', the required ones first.
func Help() string {
	const indent, width = "      ", 92
	var b strings.Builder
	all := []group{{title: "Required", introduction: "Without `NETSIM_DATA_DEV=true`, `NETSIM_WRITER_KEYS` is required too."}}
	for _, g := range groups() {
		others := g
		others.settings = nil
		for _, s := range g.settings {
			if s.Required {
				all[0].settings = append(all[0].settings, s)
			} else {
				others.settings = append(others.settings, s)
			}
		}
		all = append(all, others)
	}
	for _, g := range all {
		fmt.Fprintf(&b, "  %s\n\n", strings.ToUpper(g.title))
		if g.introduction != "" {
			b.WriteString(wrapText(plain(g.introduction), "  ", width) + "\n")
		}
		for _, s := range g.settings {
			facts := []string{"default " + s.Default}
			switch {
			case s.Required:
				facts[0] = "required"
			case s.Default == "":
				facts[0] = "not set by default"
			}
			facts = append(facts, s.Allowed)
			if s.Secret {
				facts = append(facts, "secret: "+s.Variable+FileSuffix+" may name a file with it")
			}
			if len(s.Roles) > 0 {
				facts = append(facts, "read by "+strings.Join(s.Roles, ", "))
			}
			fmt.Fprintf(&b, "    %s\n", s.Variable)
			b.WriteString(wrapText("["+strings.Join(facts, "; ")+"]", indent, width))
			b.WriteString(wrapText(plain(s.Meaning+" "+s.Change), indent, width) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// plain removes what is Markdown from a text. A link becomes the path of its page.
func plain(text string) string {
	return strings.ReplaceAll(markdownLink.ReplaceAllString(text, "docs/$1"), "`", "")
}

// wrapText breaks a text into lines of at most width characters, unless a word is longer.
func wrapText(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
