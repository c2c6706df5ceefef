package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/fleet-addon/pkg/work"
)

// write is one successful write in an audit log.
type write struct {
	Verb                     string    `json:"verb"`
	Stage                    string    `json:"stage"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	User                     struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	// Where is the cluster whose log it stands in.
	Where string `json:"-"`
}

func (w write) String() string {
	o := w.ObjectRef
	return fmt.Sprintf("%s %s: %s %s %s %s/%s %s", w.RequestReceivedTimestamp.Format("15:04:05.000"), w.Where, w.User.Username, w.Verb,
		o.Resource, o.Namespace, o.Name, o.Subresource)
}

// writesSince reads what an audit log has since a moment. Clusters that are not local have none to read.
func writesSince(m member, since time.Time) []write {
	GinkgoHelper()
	if m.AuditLog == "" {
		return nil
	}
	file, err := os.Open(m.AuditLog)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	var out []write
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		w := write{Where: m.Name}
		// The last line may be half written.
		if json.Unmarshal(lines.Bytes(), &w) != nil {
			continue
		}
		if w.Stage == "ResponseComplete" && !w.RequestReceivedTimestamp.Before(since) {
			out = append(out, w)
		}
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	return out
}

const (
	managerUser = "system:serviceaccount:" + chartNamespace + ":fleet-addon-manager"
	// agentOnHub is in the name of every agent's user on the hub.
	agentOnHub = ":addon:fleet:agent:"
	// agentAccount is the start of the agents' ServiceAccounts on their clusters.
	agentAccount = "system:serviceaccount:" + agentNamespace + ":fleet-addon"
)

// agentNamespace is where the agents run.
const agentNamespace = "open-cluster-management-agent-addon"

// ours tells whether a write was made by the manager or by an agent; their leases are no news.
func (w write) ours() bool {
	user := w.User.Username
	return (user == managerUser || strings.Contains(user, agentOnHub) || strings.HasPrefix(user, agentAccount)) &&
		w.ObjectRef.Resource != "leases" && !readOnly(w.ObjectRef.Resource)
}

// readOnly resources are created to ask something and change nothing.
func readOnly(resource string) bool {
	return slices.Contains([]string{"subjectaccessreviews", "selfsubjectaccessreviews", "tokenreviews"}, resource)
}

// workWrites are the manager's writes of a bundle's works on some clusters.
func workWrites(since time.Time, bundle types.NamespacedName, on ...string) []write {
	GinkgoHelper()
	return slices.DeleteFunc(writesSince(env.Hub, since), func(w write) bool {
		o := w.ObjectRef
		return w.User.Username != managerUser || o.Resource != "manifestworks" || o.Name != work.Name(bundle) || !slices.Contains(on, o.Namespace)
	})
}

func expectNoWrites(writes []write) {
	GinkgoHelper()
	Expect(writes).To(BeEmpty(), "writes: %v", writes)
}
