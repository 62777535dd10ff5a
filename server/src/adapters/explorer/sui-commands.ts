import type { TransactionStep } from '../../exchange/ports/explorer.ts'
import { parseCoinType } from '../sui/address-format.ts'
import type { SuiCommand } from '../sui/node.ts'

const names = {
  moveCall: 'Move call',
  transferObjects: 'Transfer objects',
  splitCoins: 'Split coins',
  mergeCoins: 'Merge coins',
  publish: 'Publish',
  upgrade: 'Upgrade',
  makeMoveVector: 'Make vector',
} as const

const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`

/** For people. */
export function describeCommand(command: SuiCommand): TransactionStep {
  const kind = command.oneofKind
  const name = kind === undefined ? 'Unknown' : names[kind]
  const program = kind === 'moveCall' ? (command.moveCall.package ?? null) : null
  return { name, program, accounts: [], text: textOf(command) }
}

function textOf(command: SuiCommand): string {
  switch (command.oneofKind) {
    case 'moveCall': {
      const { module, function: name, typeArguments } = command.moveCall
      return `${module}::${name}${typeArguments.length === 0 ? '' : `<${typeArguments.map((type) => parseCoinType(type) ?? type).join(', ')}>`}`
    }
    case 'transferObjects':
      return count(command.transferObjects.objects.length, 'object')
    case 'splitCoins':
      return `into ${count(command.splitCoins.amounts.length, 'coin')}`
    case 'mergeCoins':
      return `${count(command.mergeCoins.coinsToMerge.length, 'coin')} into one`
    default:
      return ''
  }
}
