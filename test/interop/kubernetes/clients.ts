import { join } from 'node:path'
import {
  builtGoProgram,
  debianProgram,
  installedGoProgram,
  installedNpmPackages,
  installedPythonPackages,
} from '../counterparts.ts'
import type { Part } from '../run-parts.ts'
import type { Transcript } from '../transcript.ts'
import { KUBECTL_STEPS } from './clients/kubectl-steps.ts'
import { readReport, runClient } from './clients/run-client.ts'
import { startServedGateway } from './clients/served-gateway.ts'

const CURRENT = 37
const FOLDER = join(import.meta.dirname, 'clients')

/** `kubectl` of Debian and the current one. */
export const checkKubectl: Part = async (transcript, stops) => {
  const { kubeconfig, folder } = await startServedGateway(stops)
  const programs = {
    old: debianProgram('kubernetes-client', 'usr/bin/kubectl'),
    current: builtGoProgram(join(FOLDER, 'kubectl'), 'kubectl'),
  }
  for (const [age, program] of Object.entries(programs)) {
    const { output } = await runClient(program, ['version', '--client'])
    // The current one is built without its version.
    const minor = Number(/v1\.(\d+)/.exec(output)?.[1] ?? CURRENT)
    for (const { words, prints, input, code = 0, editor = '', since = 0 } of KUBECTL_STEPS) {
      if (minor < since) continue
      const environment = { KUBECONFIG: kubeconfig, EDITOR: editor, HOME: folder }
      const seen = await runClient(program, words, { ...(input === undefined ? {} : { input }), environment })
      const shown = `${age}: kubectl ${words.join(' ')}`
      const isAsExpected = seen.code === code && prints.test(seen.output)
      transcript.check(shown, isAsExpected ? 'as expected' : `${seen.code}: ${seen.output}`, 'as expected')
    }
  }
}

/** client-go: typed clients in JSON and protobuf, informers, the dynamic client; the cache of controller-runtime. */
export const checkInformers: Part = async (transcript, stops) => {
  const { kubeconfig } = await startServedGateway(stops)
  const program = builtGoProgram(join(FOLDER, 'informers'), 'informers')
  const typed = (name: string) => ({
    [`${name} create`]: `added typed-${name}`,
    [`${name} update`]: `updated typed-${name}`,
    [`${name} conflict`]: 'true',
    [`${name} patch`]: `updated typed-${name}`,
    [`${name} delete`]: `deleted typed-${name}`,
    [`${name} absent`]: 'true',
    [`${name} lease`]: 'me 1700000000123456',
  })
  compare(transcript, readReport(await runClient(program, [kubeconfig])), {
    ...typed('json'),
    ...typed('protobuf'),
    'dynamic create': 'added dynamic',
    'dynamic invalid': 'true',
    'dynamic apply': 'b',
    'dynamic list': '1',
    'dynamic delete': 'deleted dynamic',
    'runtime secret': 'true',
    'runtime unstructured': 'true',
    'runtime patch': 'true',
    'runtime delete': 'true',
  })
}

/** Helm 3 installs, upgrades, rolls back and removes a chart; `kustomize build` feeds `kubectl apply`. */
export const checkHelm: Part = async (transcript, stops) => {
  const { kubeconfig } = await startServedGateway(stops)
  const helm = installedGoProgram('helm', 'helm.sh/helm/v3/cmd/helm@v3.22.0')
  const kubectl = builtGoProgram(join(FOLDER, 'kubectl'), 'kubectl')
  const environment = { KUBECONFIG: kubeconfig }
  const chart = join(FOLDER, 'chart')
  const host = async () => {
    const words = ['get', 'pbackend', 'shop', '-o', 'jsonpath={.spec.static.host}', '--ignore-not-found']
    return (await runClient(kubectl, words, { environment })).output
  }
  for (const [line, expected] of [
    [`install shop ${chart} --wait`, 'a.test'],
    [`upgrade shop ${chart} --set host=b.test`, 'b.test'],
    ['rollback shop 1', 'a.test'],
    ['history shop', 'a.test'],
    ['uninstall shop', ''],
  ] as const) {
    const { code, output } = await runClient(helm, line.split(' '), { environment })
    transcript.check(`helm ${line.replace(chart, 'CHART')}`, code === 0 ? await host() : output, expected)
  }
}

export const checkKustomize: Part = async (transcript, stops) => {
  const { kubeconfig } = await startServedGateway(stops)
  const kustomize = installedGoProgram('kustomize', 'sigs.k8s.io/kustomize/kustomize/v5@v5.8.2')
  const kubectl = builtGoProgram(join(FOLDER, 'kubectl'), 'kubectl')
  const environment = { KUBECONFIG: kubeconfig }
  const built = await runClient(kustomize, ['build', join(FOLDER, 'kustomization')])
  transcript.check('kustomize build', built.code, 0)
  const { output } = await runClient(kubectl, ['apply', '-f', '-'], { input: built.output, environment })
  transcript.check('kubectl apply', output.trim(), 'proxybackend.gatewright.dev/test-shop created')
}

/** The official clients for Python and JavaScript. */
export const checkPython: Part = async (transcript, stops) => {
  const { kubeconfig } = await startServedGateway(stops)
  const python = installedPythonPackages('python-kubernetes', 'kubernetes==36.0.3')
  compare(transcript, readReport(await runClient(python, [join(FOLDER, 'client.py'), kubeconfig])), {
    create: '1',
    patch: '2',
    list: '1',
    watch: 'ADDED python, DELETED python',
    invalid: '422 Unprocessable Entity',
    apply: 'a.test',
    version: 'v1.33.0+gatewright',
  })
}

export const checkNodeClient: Part = async (transcript, stops) => {
  const { kubeconfig } = await startServedGateway(stops)
  const packages = installedNpmPackages('node-kubernetes', '@kubernetes/client-node@2.0.1')
  const words = [join(FOLDER, 'node-client.ts'), packages, kubeconfig]
  compare(transcript, readReport(await runClient(process.execPath, words)), {
    informer: 'add node, update node, delete node',
    typed: '1',
    invalid: '422',
  })
}

function compare(
  transcript: Transcript,
  seen: Readonly<Record<string, string>>,
  expected: Readonly<Record<string, string>>,
) {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(seen)])) {
    transcript.check(name, seen[name], expected[name])
  }
}
