package functions

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// translatedFile names the template as SAM hands it to CloudFormation, as JSON.
// The tests of the template are about it too where it is there.
const translatedFile = "CLOCHE_TRANSLATED"

// node is a part of a template: what JSON has, with functions in their long form.
type node = map[string]any

// stack is a template whose resources can be asked for.
type stack struct {
	t         *testing.T
	resources map[string]node
}

// eachStack runs a test on the template, and on what SAM makes of it.
func eachStack(t *testing.T, test func(*testing.T, stack)) {
	t.Run("written", func(t *testing.T) { test(t, newStack(t, written(t))) })
	t.Run("translated", func(t *testing.T) {
		name := os.Getenv(translatedFile)
		if name == "" {
			t.Skipf("%s names no file: run 'make test-aws'", translatedFile)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc node
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		test(t, newStack(t, doc))
	})
}

func newStack(t *testing.T, doc node) stack {
	s := stack{t, map[string]node{}}
	for name, r := range mapOf(t, doc["Resources"]) {
		s.resources[name] = mapOf(t, r)
	}
	return s
}

func written(t *testing.T) node {
	t.Helper()
	text, err := os.ReadFile("../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	return mapOf(t, plain(t, root.Content[0]))
}

// plain makes YAML what JSON would be, with !Ref and the like written out.
func plain(t *testing.T, n *yaml.Node) any {
	t.Helper()
	if n.Kind == yaml.AliasNode {
		return plain(t, n.Alias)
	}
	name, isFunction := strings.CutPrefix(n.Tag, "!")
	if isFunction = isFunction && !strings.HasPrefix(name, "!"); isFunction {
		n = &yaml.Node{Kind: n.Kind, Value: n.Value, Content: n.Content, Tag: map[yaml.Kind]string{yaml.ScalarNode: "!!str"}[n.Kind]}
	}
	var value any
	switch n.Kind {
	case yaml.MappingNode:
		m := node{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(t, n.Content[i+1])
		}
		value = m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = plain(t, c)
		}
		value = list
	default:
		if err := n.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if i, ok := value.(int); ok {
			value = float64(i) // as JSON has it
		}
	}
	switch {
	case !isFunction:
		return value
	case name == "Ref" || name == "Condition":
		return node{name: value}
	case name == "GetAtt":
		return node{"Fn::GetAtt": strings.SplitN(fmt.Sprint(value), ".", 2)}
	}
	return node{"Fn::" + name: value}
}

func mapOf(t *testing.T, v any) node {
	t.Helper()
	m, ok := v.(node)
	if !ok {
		t.Fatalf("not a mapping: %s", text(v))
	}
	return m
}

func listOf(t *testing.T, v any) []any {
	t.Helper()
	list, ok := v.([]any)
	if !ok {
		t.Fatalf("not a list: %s", text(v))
	}
	return list
}

// oneOrMore is for what may be a list or its only item.
func oneOrMore(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// text is a value in a form that can be compared. Functions in their long and
// their short form look the same.
func text(v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// of lists the resources of a kind: "Function" stands for SAM's and for Lambda's.
func (s stack) of(kind string) map[string]node {
	found := map[string]node{}
	for name, r := range s.resources {
		if strings.HasSuffix(r["Type"].(string), "::"+kind) {
			found[name] = s.properties(name)
		}
	}
	return found
}

func (s stack) properties(name string) node {
	s.t.Helper()
	r, ok := s.resources[name]
	if !ok {
		s.t.Fatalf("no resource %s", name)
	}
	return mapOf(s.t, r["Properties"])
}

var mention = regexp.MustCompile(`"Ref":"(\w+)"|"Fn::GetAtt":\["(\w+)|\$\{(\w+)`)

// mentions reports whether a value refers to a resource.
func mentions(v any, name string) bool {
	for _, m := range mention.FindAllStringSubmatch(text(v), -1) {
		if m[1] == name || m[2] == name || m[3] == name {
			return true
		}
	}
	return false
}
