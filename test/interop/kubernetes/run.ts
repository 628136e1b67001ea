import { runParts } from '../run-parts.ts'
import { checkHelm, checkInformers, checkKubectl, checkKustomize, checkNodeClient, checkPython } from './clients.ts'
import { checkCrds } from './crds.ts'
import { checkCustomResources } from './custom-resources.ts'
import { checkDefinitions } from './definitions.ts'
import { checkDeployedProvider } from './deployed-provider.ts'
import { checkGatewayApi } from './gateway-api.ts'
import { checkManagedFields } from './manage-fields.ts'
import { checkStrategicMerge } from './strategic-merge.ts'

/** Checks what the gateway offers to Kubernetes against the programs of Kubernetes. */
await runParts('interop:kubernetes', {
  crds: checkCrds,
  definitions: checkDefinitions,
  'custom-resources': checkCustomResources,
  'gateway-api': checkGatewayApi,
  'deployed-provider': checkDeployedProvider,
  'strategic-merge': checkStrategicMerge,
  'managed-fields': checkManagedFields,
  kubectl: checkKubectl,
  informers: checkInformers,
  helm: checkHelm,
  kustomize: checkKustomize,
  python: checkPython,
  node: checkNodeClient,
})
