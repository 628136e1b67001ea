import { stringify } from 'yaml'
import { KnownSecrets } from '#base/known-secrets.ts'
import { secretsOfObject } from '#control/secret-values.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { VERSION } from '#instance/version.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { controllerNames } from '../controller-names.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { countProblems, findingLines } from '../finding-lines.ts'
import type { PathFlags } from '../object-paths.ts'
import { type ApiFlags, readObjects } from '../object-source.ts'
import { complain, printText } from '../output.ts'
import { renderGateways } from './render-gateways.ts'

export interface RenderFlags extends ApiFlags, PathFlags {
  /** URL of the controller. */
  readonly controller?: string
}

/** Prints the objects that a controller on Kubernetes would apply for the Gateways, as YAML; problems go to standard error. */
export async function renderFiles(paths: readonly string[], flags: RenderFlags): Promise<ExitCode> {
  const names = controllerNames(process.env)
  const { store } = await readObjects('render', paths, flags)
  const defaults = defaultSettings(VERSION)
  const settings = { ...defaults, controllerUrl: flags.controller ?? defaults.controllerUrl }
  const { gateways, findings } = renderGateways(store.list(), settings, { names, tlsMaterial: TLS_MATERIAL })
  const secrets = new KnownSecrets(store.list().flatMap(secretsOfObject))
  for (const { gateway, objects = [], sessionKeySecret } of gateways) {
    const { namespace, name } = gateway.metadata
    for (const object of objects)
      printText(`---\n${secrets.hide(stringify(object, { aliasDuplicateObjects: false }))}`.trimEnd())
    if (sessionKeySecret !== undefined)
      printText(
        `# The controller also creates Secret ${namespace}/${sessionKeySecret.metadata.name}, with a random key.`,
      )
    else if (objects.length === 0) printText(`# Nothing is applied for Gateway ${namespace}/${name}.`)
  }
  const problems = findingLines(store, findings)
  if (problems.lines.length > 0)
    complain(countProblems(problems), ...problems.lines.flatMap((line) => secrets.hide(line).split('\n')))
  return problems.errors === 0 ? EXIT.ok : EXIT.findings
}
