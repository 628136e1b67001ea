import { expect, test } from 'vitest'
import { runController } from './controller.ts'
import { WHOLE_PROCESS } from './surroundings.ts'

const starting = (environment: NodeJS.ProcessEnv) =>
  runController({ bind: '127.0.0.1' }, { ...WHOLE_PROCESS, environment })

test.each<[environment: NodeJS.ProcessEnv, message: string]>([
  [
    { GATEWRIGHT_CONTROLLER_NAME: 'a.example/b' },
    'GATEWRIGHT_CONTROLLER_NAME is a.example/b; only gatewright.dev/controller is implemented',
  ],
  [{ GATEWRIGHT_CLASS_NAME: 'other' }, 'GATEWRIGHT_CLASS_NAME is other; only gatewright is implemented'],
  [
    { GATEWRIGHT_CONTROLLER_NAME: 'gatewright.dev/controller', GATEWRIGHT_CLASS_NAME: 'gatewright' },
    'KUBERNETES_SERVICE_HOST is not set, so this is no Pod of a cluster; name a kubeconfig with --kubeconfig',
  ],
])('%j: it does not start, and says why', async (environment, message) => {
  await expect(starting(environment)).rejects.toThrow(message)
})
