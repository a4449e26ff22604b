package report

import "strings"

// Parse finds the tables in a text that Table.String has formatted. A table ends at an empty line,
// or at a Markdown code fence.
func Parse(text string) (tables []Table) {
	lines := strings.Split(text, "\n")
	for n := 1; n < len(lines); n++ {
		columns := ruled(lines[n])
		if columns == nil {
			continue
		}
		table := Table{cut(lines[n-1], columns)}
		for n++; n < len(lines) && lines[n] != "" && !strings.HasPrefix(lines[n], "```"); n++ {
			table.Add(cut(lines[n], columns)...)
		}
		tables = append(tables, table)
	}
	return tables
}

// column is the beginning and end of a column, in characters.
type column struct{ begin, end int }

// ruled returns the columns of a rule between header and rows, or nil if the line is not a rule.
func ruled(line string) (columns []column) {
	if line == "" || strings.Trim(line, "- ") != "" {
		return nil
	}
	at := 0
	for _, dashes := range strings.Split(line, "  ") {
		columns = append(columns, column{at, at + len(dashes)})
		at += len(dashes) + len("  ")
	}
	return columns
}

// cut returns the cells of a line. Trailing empty cells are missing, because the text does not have
// them.
func cut(line string, columns []column) (cells []string) {
	characters := []rune(line)
	for _, c := range columns {
		begin, end := min(c.begin, len(characters)), min(c.end, len(characters))
		cells = append(cells, strings.TrimSpace(string(characters[begin:end])))
	}
	return cells
}
