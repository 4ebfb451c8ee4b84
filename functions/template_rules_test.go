package functions

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sort"
	"strings"
	"testing"

	"cloche/internal/metrics/metricstest"
)

const runnerRole = `[{"PolicyName":"runner","PolicyDocument":{"Version":"2012-10-17","Statement":[
	{"Sid":"Place","Effect":"Allow","Resource":"*","Action":["ec2:CreateNetworkInterface","ec2:DescribeNetworkInterfaces",
		"ec2:DescribeSubnets","ec2:DeleteNetworkInterface","ec2:AssignPrivateIpAddresses","ec2:UnassignPrivateIpAddresses"]},
	{"Sid":"NothingFromInside","Effect":"Deny","Action":"*","Resource":"*","Condition":{"Null":{"lambda:SourceFunctionArn":"false"}}}]}}]`

// Whoever escapes into the runner must find a role that does nothing for them.
func TestTemplateRunnerRole(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		runner, role := s.properties("Runner"), s.properties("RunnerRole")
		if got := text(runner["Role"]); got != `{"Fn::GetAtt":["RunnerRole","Arn"]}` {
			t.Errorf("role %s", got)
		}
		if got := text(role["Policies"]); got != compact(t, runnerRole) {
			t.Errorf("policies %s", got)
		}
		for name := range role {
			if name != "AssumeRolePolicyDocument" && name != "Policies" {
				t.Errorf("the role has %s", name)
			}
		}
		if got := text(role["AssumeRolePolicyDocument"]); strings.Count(got, "Principal") != 1 || !strings.Contains(got, `{"Service":"lambda.amazonaws.com"}`) {
			t.Errorf("assumed by %s", got)
		}
		// Nothing else adds to it.
		for name, r := range s.resources {
			if kind := r["Type"].(string); !strings.HasPrefix(kind, "AWS::IAM::") || name == "RunnerRole" {
				continue
			}
			if mentions(r["Properties"], "RunnerRole") {
				t.Errorf("%s is about the runner's role", name)
			}
		}
		for _, other := range []string{"Policies", "Tracing", "Environment", "Layers", "FileSystemConfigs", "FunctionName", "Events"} {
			if runner[other] != nil {
				t.Errorf("the runner has %s: %s", other, text(runner[other]))
			}
		}
	})
}

func compact(t *testing.T, body string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	return text(v)
}

// wayOut are kinds of resources that make a way out of a network, or into one.
var wayOut = []string{
	"Route", "RouteTable", "SubnetRouteTableAssociation", "InternetGateway", "EgressOnlyInternetGateway", "NatGateway",
	"VPCGatewayAttachment", "VPCEndpoint", "VPCPeeringConnection", "TransitGateway", "TransitGatewayAttachment", "TransitGatewayVpcAttachment",
	"VPNGateway", "VPNConnection", "EIP", "EIPAssociation", "SecurityGroupEgress", "SecurityGroupIngress", "DHCPOptions",
	"VPCDHCPOptionsAssociation", "VPCCidrBlock", "SubnetCidrBlock", "NetworkInterface", "NetworkAclEntry", "FirewallRuleGroup", "ResolverRule",
}

func TestTemplateRunnerReachesNothing(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		for _, kind := range wayOut {
			for name := range s.of(kind) {
				t.Errorf("%s is a %s", name, kind)
			}
		}
		want := `{"SecurityGroupIds":[{"Ref":"RunnerSecurityGroup"}],"SubnetIds":[{"Ref":"SubnetA"},{"Ref":"SubnetB"}]}`
		if got := text(s.properties("Runner")["VpcConfig"]); got != want {
			t.Errorf("the runner lies in %s", got)
		}
		group := s.properties("RunnerSecurityGroup")
		for _, rule := range listOf(t, group["SecurityGroupEgress"]) {
			if r := mapOf(t, rule); r["IpProtocol"] != "-1" || r["CidrIp"] != "127.0.0.1/32" || len(r) != 3 || r["Description"] == nil {
				t.Errorf("egress %s", text(rule))
			}
		}
		// An empty list would be filled with a rule that allows all.
		if n := len(listOf(t, group["SecurityGroupEgress"])); n != 1 || group["SecurityGroupIngress"] != nil || !mentions(group["VpcId"], "Vpc") {
			t.Errorf("%d rules in %s", n, text(group))
		}
		for _, name := range []string{"SubnetA", "SubnetB"} {
			subnet := s.properties(name)
			if text(subnet["MapPublicIpOnLaunch"]) != "false" || text(subnet["VpcId"]) != `{"Ref":"Vpc"}` || strings.Contains(text(subnet), "pv6") {
				t.Errorf("%s is %s", name, text(subnet))
			}
		}
		vpc := s.properties("Vpc")
		if text(vpc["EnableDnsSupport"]) != "false" || text(vpc["EnableDnsHostnames"]) != "false" {
			t.Errorf("the network has a name service: %s", text(vpc))
		}
		// Nothing else lives in it, and nobody else's network is used.
		if len(s.of("VPC")) != 1 || len(s.of("Subnet")) != 2 || len(s.of("SecurityGroup")) != 1 {
			t.Error("there is more than one network of two subnets and one group")
		}
		for name, function := range s.of("Function") {
			if name != "Runner" && function["VpcConfig"] != nil {
				t.Errorf("%s lies in a network", name)
			}
		}
	})
}

// routes lists "METHOD /path" and the operation behind it.
func (s stack) routes() map[string]node {
	found := map[string]node{}
	for _, api := range append(slices.Collect(maps.Values(s.of("Api"))), slices.Collect(maps.Values(s.of("RestApi")))...) {
		body := api["DefinitionBody"]
		if body == nil {
			body = api["Body"]
		}
		for path, methods := range mapOf(s.t, mapOf(s.t, body)["paths"]) {
			for method, operation := range mapOf(s.t, methods) {
				found[strings.ToUpper(method)+" "+path] = mapOf(s.t, operation)
			}
		}
	}
	return found
}

// schemes lists the security schemes of the API.
func (s stack) scheme() node {
	for _, kind := range []string{"Api", "RestApi"} {
		for _, api := range s.of(kind) {
			body := api["DefinitionBody"]
			if body == nil {
				body = api["Body"]
			}
			return mapOf(s.t, mapOf(s.t, mapOf(s.t, body)["components"])["securitySchemes"])
		}
	}
	s.t.Fatal("no API")
	return nil
}

func TestTemplateRoutesAreSigned(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		schemes := s.scheme()
		iam := mapOf(t, schemes["iam"])
		if len(schemes) != 1 || iam["x-amazon-apigateway-authtype"] != "awsSigv4" {
			t.Errorf("schemes %s", text(schemes))
		}
		routes := s.routes()
		if len(routes) == 0 {
			t.Error("no routes")
		}
		for route, operation := range routes {
			if got := text(operation["security"]); got != `[{"iam":[]}]` {
				t.Errorf("%s asks for %s", route, got)
			}
		}
		for name, function := range s.of("Function") {
			if function["FunctionUrlConfig"] != nil || function["Events"] != nil {
				t.Errorf("%s has a way in that is not in the API's document", name)
			}
		}
		for _, kind := range []string{"Url", "HttpApi"} {
			if n := len(s.of(kind)); n > 0 {
				t.Errorf("%d of kind %s", n, kind)
			}
		}
	})
}

// The emulator calls a function without a permission; on AWS that is a 500.
func TestTemplateRoutesHavePermissions(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		used := map[string]bool{}
		for route, operation := range s.routes() {
			method, _, _ := strings.Cut(route, " ")
			integration := mapOf(t, operation["x-amazon-apigateway-integration"])
			if integration["type"] != "aws_proxy" || integration["httpMethod"] != "POST" {
				t.Errorf("%s: integration %s", route, text(integration))
			}
			permitted := false
			for name, p := range s.of("Permission") {
				function, _ := mapOf(t, p["FunctionName"])["Ref"].(string)
				if p["Principal"] == "apigateway.amazonaws.com" && mentions(integration["uri"], function) &&
					mentions(p["SourceArn"], "Api") && strings.Contains(text(p["SourceArn"]), "${Api}/live/"+method+"/*") {
					permitted, used[name] = true, true
				}
			}
			if !permitted {
				t.Errorf("%s: the API may not call its function", route)
			}
		}
		for name, p := range s.of("Permission") {
			if p["Action"] != "lambda:InvokeFunction" || p["SourceArn"] == nil || strings.Contains(text(p["FunctionName"]), "Runner") {
				t.Errorf("%s allows more than it must: %s", name, text(p))
			}
			if p["Principal"] != "apigateway.amazonaws.com" && (p["Principal"] != "events.amazonaws.com" || !mentions(p["SourceArn"], "DemoRule")) {
				t.Errorf("%s is for %v", name, p["Principal"])
			}
			if p["Principal"] == "apigateway.amazonaws.com" && !used[name] {
				t.Errorf("%s permits what no route does", name)
			}
		}
	})
}

func TestTemplateRoutesAreThrottled(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		stages := s.of("Stage")
		if len(stages) == 0 {
			stages = s.of("Api")
		}
		if len(stages) != 1 {
			t.Errorf("%d stages", len(stages))
		}
		for _, stage := range stages {
			all := false
			for _, item := range listOf(t, stage["MethodSettings"]) {
				m := mapOf(t, item)
				if m["ThrottlingRateLimit"] == nil || m["ThrottlingBurstLimit"] == nil {
					t.Errorf("no throttle in %s", text(m))
				}
				all = all || m["ResourcePath"] == "/*" && m["HttpMethod"] == "*"
			}
			if !all {
				t.Error("there are routes without a throttle")
			}
		}
	})
}

// undocumented are routes on AWS that /openapi.json does not have: pages are not
// for programs.
var undocumented = []string{"GET /dashboard", "GET /dashboard/{file}"}

func TestTemplateRoutesAreDocumented(t *testing.T) {
	p := newParts(&shelf{})
	p.Store = &metricstest.Memory{}
	b := &box{}
	handler, err := p.Handler(p.Service(b, p.Store), b.Runtime)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d, %v", w.Code, err)
	}
	want := slices.Clone(undocumented)
	for path, methods := range document.Paths {
		for method := range methods {
			want = append(want, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(want)
	eachStack(t, func(t *testing.T, s stack) {
		if got := slices.Sorted(maps.Keys(s.routes())); !slices.Equal(got, want) {
			t.Errorf("routes of the API  %v\nof /openapi.json and the pages  %v", got, want)
		}
	})
}

// wildcards are the stars in policies, as "role or policy, field", and why each
// of them may be.
var wildcards = map[string]string{
	"RunnerRole Place Resource":             "these actions know no narrower resource before the interface exists",
	"RunnerRole NothingFromInside Action":   "a Deny",
	"RunnerRole NothingFromInside Resource": "a Deny",
}

func TestTemplateWildcardsAreListed(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		found := map[string]bool{}
		for name, r := range s.resources {
			for _, statement := range statementsIn(r) {
				for _, field := range []string{"Action", "NotAction", "Resource", "NotResource", "Principal", "NotPrincipal"} {
					for _, value := range oneOrMore(statement[field]) {
						if at := strings.TrimSpace(name + " " + sid(statement) + " " + field); strings.Contains(text(value), "*") {
							found[at] = true
						}
					}
				}
				if statement["NotAction"] != nil || statement["NotResource"] != nil || statement["NotPrincipal"] != nil {
					t.Errorf("%s says what it is not about: %s", name, text(statement))
				}
			}
		}
		if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(wildcards)); !slices.Equal(got, want) {
			t.Errorf("stars at   %q\nlisted are %q", got, want)
		}
	})
}

func sid(statement node) string {
	s, _ := statement["Sid"].(string)
	return s
}

// statementsIn finds the statements of all policies within a value.
func statementsIn(v any) []node {
	var found []node
	switch v := v.(type) {
	case node:
		if v["Effect"] != nil {
			found = append(found, v)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, statementsIn(v[name])...)
		}
	case []any:
		for _, item := range v {
			found = append(found, statementsIn(item)...)
		}
	}
	return found
}

// may is what each role is for, and all that it may do.
var may = map[string][]string{
	"ExecuteRole":    {"dynamodb:PutItem", "dynamodb:UpdateItem", "lambda:InvokeFunction", "logs:CreateLogStream", "logs:PutLogEvents"},
	"DashboardRole":  {"dynamodb:GetItem", "dynamodb:Query", "logs:CreateLogStream", "logs:PutLogEvents"},
	"DemoRole":       {"dynamodb:PutItem", "dynamodb:UpdateItem", "lambda:InvokeFunction", "logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage"},
	"ApiAccountRole": nil, // AWS's own policy, for the gateway alone
}

func TestTemplateRolesMayDoLittle(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		for name, role := range s.of("Role") {
			if name == "RunnerRole" {
				continue
			}
			want, known := may[name]
			var got []string
			for _, statement := range statementsIn(role["Policies"]) {
				for _, action := range oneOrMore(statement["Action"]) {
					got = append(got, action.(string))
				}
			}
			if sort.Strings(got); !known || !slices.Equal(got, want) {
				t.Errorf("%s may %q, wants %q", name, got, want)
			}
			managed := text(role["ManagedPolicyArns"])
			if managed != "null" && (name != "ApiAccountRole" || strings.Count(managed, "policy/") != 1 || !strings.Contains(managed, "AmazonAPIGatewayPushToCloudWatchLogs")) {
				t.Errorf("%s has %s", name, managed)
			}
		}
		for name, function := range s.of("Function") {
			if text(function["Role"]) != `{"Fn::GetAtt":["`+name+`Role","Arn"]}` {
				t.Errorf("%s has the role %s", name, text(function["Role"]))
			}
		}
	})
}

// The time of each stage has room for the next one's. What the code knows of it
// is in this package and in internal/gateway.
func TestTemplateTimes(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		timeout := func(name string) float64 { return s.properties(name)["Timeout"].(float64) }
		if timeout("Execute") != 28 || timeout("Runner") != 25 || timeout("Dashboard") > 10 {
			t.Errorf("execute %v s, runner %v s, dashboard %v s", timeout("Execute"), timeout("Runner"), timeout("Dashboard"))
		}
		for route, operation := range s.routes() {
			function, want := "Dashboard", 10_000.0
			if strings.HasPrefix(route, http.MethodPost) {
				function, want = "Execute", 29_000 // API Gateway's own limit
			}
			integration := mapOf(t, operation["x-amazon-apigateway-integration"])
			if integration["timeoutInMillis"] != want || !mentions(integration["uri"], function) || want < 1000*timeout(function) {
				t.Errorf("%s: %s", route, text(integration))
			}
		}
	})
}

// mayKnow are the variables of the functions. None of them is a secret: those
// would be readable for whoever may describe a function.
var mayKnow = map[string][]string{
	"Execute":   {"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_LAMBDA", "CLOCHE_MODE", "CLOCHE_NAMESPACE", "CLOCHE_RUNNER", "CLOCHE_SHARDS", "CLOCHE_TABLE", "CLOCHE_TENANT_ISOLATION"},
	"Dashboard": {"AWS_ENDPOINT_URL_DYNAMODB", "CLOCHE_MODE", "CLOCHE_SHARDS", "CLOCHE_TABLE"},
	"Demo":      {"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_LAMBDA", "CLOCHE_MODE", "CLOCHE_NAMESPACE", "CLOCHE_RUNNER", "CLOCHE_SHARDS", "CLOCHE_TABLE", "CLOCHE_TENANT_ISOLATION"},
	"Runner":    nil,
}

func TestTemplateFunctions(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		if got := slices.Sorted(maps.Keys(s.of("Function"))); !slices.Equal(got, slices.Sorted(maps.Keys(mayKnow))) {
			t.Errorf("functions %q", got)
		}
		metadata := text(s.resources["Execute"]["Metadata"])
		for name, function := range s.of("Function") {
			var variables []string
			if environment := function["Environment"]; environment != nil {
				variables = slices.Sorted(maps.Keys(mapOf(t, mapOf(t, environment)["Variables"])))
			}
			if !slices.Equal(variables, mayKnow[name]) {
				t.Errorf("%s knows %q", name, variables)
			}
			if got := text(mapOf(t, function["ImageConfig"])["Command"]); got != `["/app/`+strings.ToLower(name)+`"]` {
				t.Errorf("%s starts %s", name, got)
			}
			// One image, hence one build.
			if got := text(s.resources[name]["Metadata"]); got != metadata {
				t.Errorf("%s is built by %s", name, got)
			}
			if function["FunctionName"] != nil || function["Tracing"] != nil || function["TracingConfig"] != nil {
				t.Errorf("%s has a name or traces", name)
			}
			if logging := mapOf(t, function["LoggingConfig"]); logging["LogFormat"] != "JSON" || !mentions(logging["LogGroup"], name+"LogGroup") {
				t.Errorf("%s logs to %s", name, text(logging))
			}
		}
		runner := s.properties("Runner")
		if runner["MemorySize"] != 1769.0 || text(runner["EphemeralStorage"]) != `{"Size":512}` || !strings.Contains(text(runner["TenancyConfig"]), "PER_TENANT") {
			t.Errorf("the runner: %s", text(runner))
		}
	})
}

func TestTemplateKeepsRecords(t *testing.T) {
	eachStack(t, func(t *testing.T, s stack) {
		table := s.properties("Table")
		for property, want := range map[string]string{
			"PointInTimeRecoverySpecification": `{"PointInTimeRecoveryEnabled":true}`,
			"SSESpecification":                 `{"SSEEnabled":true}`,
			"TimeToLiveSpecification":          `{"AttributeName":"expires","Enabled":true}`,
			"BillingMode":                      `"PAY_PER_REQUEST"`,
		} {
			if got := text(table[property]); got != want {
				t.Errorf("%s is %s", property, got)
			}
		}
		if policy, _ := s.resources["Table"]["DeletionPolicy"].(string); !strings.HasPrefix(policy, "Retain") {
			t.Errorf("the table goes with the stack: %s", policy)
		}
		for name, group := range s.of("LogGroup") {
			if group["RetentionInDays"] == nil {
				t.Errorf("%s is kept for ever", name)
			}
		}
	})
}

// The rules must find what they are there to find.
func TestTemplateRulesFindFaults(t *testing.T) {
	if found := statementsIn(written(t)); len(found) < 10 {
		t.Errorf("%d statements", len(found))
	}
	doc := written(t)
	s := newStack(t, doc)
	if len(s.routes()) < 8 || len(s.of("Function")) != 4 || len(s.of("Role")) != 5 || len(s.of("Permission")) != 3 {
		t.Errorf("%d routes, %d functions, %d roles, %d permissions", len(s.routes()), len(s.of("Function")), len(s.of("Role")), len(s.of("Permission")))
	}
	if !mentions(s.properties("Execute")["Role"], "ExecuteRole") || mentions(s.properties("Execute")["Role"], "Execute") {
		t.Error("a mention is not seen, or seen where it is not")
	}
}
