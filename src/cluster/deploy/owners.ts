import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'

function controllerOf(object: Members): Members | undefined {
  const owners = itemsOf(membersOf(object.metadata).ownerReferences).map(membersOf)
  return owners.find(({ controller }) => controller === true)
}

/** UID of the controller that owns an object. */
export function ownerOf(object: Members): string | undefined {
  return textOf(controllerOf(object)?.uid)
}

export function ownerNameOf(object: Members): string | undefined {
  return textOf(controllerOf(object)?.name)
}

/** Why an object that exists is not used, and what to do. */
export function foreignMessage(found: Members): string {
  const controller = controllerOf(found)
  const whose =
    controller === undefined ? 'no controller owns it' : `${textOf(controller.kind)} ${textOf(controller.name)} owns it`
  return `an object with this name exists, and ${whose}; delete or rename it, or rename the Gateway`
}
