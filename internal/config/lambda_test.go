package config

import (
	"slices"
	"strings"
	"testing"
)

func TestForLambda(t *testing.T) {
	l, err := ForLambda()
	if err != nil || l.Inline || !l.Isolated || l.Shards != 0 || l.Memory != 256<<20 || l.StdoutChars != 4000 {
		t.Errorf("without variables: %+v, error %v", l, err)
	}
	for name, value := range map[string]string{
		"CLOCHE_MODE": "inline", "CLOCHE_RUNNER": "runner", "CLOCHE_TENANT_ISOLATION": "off", "CLOCHE_TABLE": "table",
		"CLOCHE_SHARDS": "16", "CLOCHE_NAMESPACE": "Cloche/dev", "CLOCHE_REQUIRE": "none",
	} {
		t.Setenv(name, value)
	}
	l, err = ForLambda()
	if err != nil || !l.Inline || l.Isolated || l.Runner != "runner" || l.Table != "table" || l.Shards != 16 ||
		l.Namespace != "Cloche/dev" || l.Require != nil {
		t.Errorf("with variables: %+v, error %v", l, err)
	}
}

func TestForLambdaNamesEveryFault(t *testing.T) {
	faults := map[string]string{
		"CLOCHE_MODE": "both", "CLOCHE_TENANT_ISOLATION": "maybe", "CLOCHE_SHARDS": "1000", "CLOCHE_MEMORY": "much",
	}
	for name, value := range faults {
		t.Setenv(name, value)
	}
	_, err := ForLambda()
	for name := range faults {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
}

func TestRunnerEnvironment(t *testing.T) {
	for _, name := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_LAMBDA_LOG_GROUP_NAME", "GOOGLE_API_KEY", "HOME"} {
		t.Setenv(name, "canary")
	}
	t.Setenv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001")
	useful, others := RunnerEnvironment()
	if !others || !slices.Contains(useful, "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001") ||
		slices.ContainsFunc(useful, func(v string) bool { return strings.HasSuffix(v, "=canary") }) {
		t.Errorf("useful %q, others %t", useful, others)
	}
}
