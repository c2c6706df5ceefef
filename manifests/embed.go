package manifests

import "embed"

// AgentChart is the folder of the agent's chart in Agent.
const AgentChart = "agent"

// Agent is the chart that the add-on framework renders for each managed cluster.
// `all:` keeps _helpers.tpl.
//
//go:embed all:agent
var Agent embed.FS

// CRDs holds crds/*.yaml, one CustomResourceDefinition in each file.
//
//go:embed crds/*.yaml
var CRDs embed.FS
