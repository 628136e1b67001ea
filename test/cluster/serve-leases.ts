import { eventually } from '#test/support/eventually.ts'
import type { connectToTestServer } from './connect-to-test-server.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Of a kind that the API server of tests does not have itself. */
const LEASES = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'leases.coordination.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
  spec: {
    group: 'coordination.k8s.io',
    scope: 'Namespaced',
    names: { kind: 'Lease', plural: 'leases' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

/** Lets an API server serve Leases. */
export async function serveLeases({ server, client }: Awaited<ReturnType<typeof connectToTestServer>>): Promise<void> {
  await client.create(DEFINITIONS, LEASES)
  const list = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  await eventually('served Leases', async () => (await server.call(list)).status === 200)
}
