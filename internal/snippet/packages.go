package snippet

// Bounds on a list of packages.
const (
	MaxPackages    = 500
	MaxPackageText = 100 // characters of each text
)

// Packages is what snippets can import besides the standard library.
type Packages struct {
	List    []Package `json:"list" doc:"By the name of the module."`
	Omitted int       `json:"omitted" minimum:"0" doc:"How many further ones there are."`
}

// Package is one module of the top level and where it comes from.
type Package struct {
	Module       string `json:"module" doc:"Name to import."`
	Distribution string `json:"distribution" doc:"Name of the distribution that it is from, as pip has it; empty if it is from none."`
	Version      string `json:"version" doc:"Version of the distribution; empty if it is not known."`
	Preloaded    bool   `json:"preloaded" doc:"Whether it is loaded before a snippet comes, so that importing it takes no time."`
}
