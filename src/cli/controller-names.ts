import { type ControllerNames, DEFAULT_NAMES } from '#control/context/controller.ts'
import { type Environment, readVariable } from './environment.ts'

/** The names of the controller that a command runs, or speaks for. @throws UsageError */
export function controllerNames(environment: Environment): ControllerNames {
  return {
    controller: readVariable(environment, 'GATEWRIGHT_CONTROLLER_NAME') ?? DEFAULT_NAMES.controller,
    gatewayClass: readVariable(environment, 'GATEWRIGHT_CLASS_NAME') ?? DEFAULT_NAMES.gatewayClass,
  }
}
