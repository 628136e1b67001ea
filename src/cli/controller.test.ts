import { expect, test } from 'vitest'
import { runController } from './controller.ts'
import { controllerNames } from './controller-names.ts'
import { WHOLE_PROCESS } from './surroundings.ts'

const starting = (environment: NodeJS.ProcessEnv) =>
  runController({ bind: '127.0.0.1' }, { ...WHOLE_PROCESS, environment })

test.each<[environment: NodeJS.ProcessEnv, message: string]>([
  [
    { GATEWRIGHT_CONTROLLER_NAME: 'example' },
    'GATEWRIGHT_CONTROLLER_NAME is example; it must be a domain and a path, such as example.com/controller',
  ],
  [
    { GATEWRIGHT_CLASS_NAME: 'Other_' },
    'GATEWRIGHT_CLASS_NAME is Other_; it must be the name of an object, such as gatewright',
  ],
  [
    { GATEWRIGHT_CONTROLLER_NAME: 'example.com/b', GATEWRIGHT_CLASS_NAME: 'other' },
    'KUBERNETES_SERVICE_HOST is not set, so this is not a Pod of a cluster; name a kubeconfig with --kubeconfig',
  ],
])('%j: it does not start, and says why', async (environment, message) => {
  await expect(starting(environment)).rejects.toThrow(message)
})

test.each([
  [{}, 'gatewright.dev/controller', 'gatewright'],
  [{ GATEWRIGHT_CONTROLLER_NAME: 'example.com/b' }, 'example.com/b', 'gatewright'],
  [{ GATEWRIGHT_CLASS_NAME: 'other' }, 'gatewright.dev/controller', 'other'],
])('with %j it is %s, with the class %s', (environment, controller, gatewayClass) => {
  expect(controllerNames(environment)).toEqual({ controller, gatewayClass })
})
