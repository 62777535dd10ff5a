/* Commands and the expiration of the protobuf message sui.rpc.v2.Transaction, for BCS. */
import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { invalidArgument } from './grpc-error.ts'

type Argument = typeof bcs.Argument.$inferInput
type Command = typeof bcs.Command.$inferInput
type Expiration = typeof bcs.TransactionExpiration.$inferInput

const { Argument_ArgumentKind: ArgumentKind, TransactionExpiration_TransactionExpirationKind: ExpirationKind } =
  GrpcTypes

const invalid = (what: string) => invalidArgument(`invalid transaction: ${what}`)

/** The value, or a refusal that names the field. */
export function requireField<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw invalid(`missing ${field}`)
  return value
}

function parseArgument(argument: GrpcTypes.Argument | undefined): Argument {
  const { kind, input, result, subresult } = requireField(argument, 'argument')
  if (kind === ArgumentKind.GAS) return { GasCoin: true }
  if (kind === ArgumentKind.INPUT) return { Input: requireField(input, 'argument.input') }
  if (kind !== ArgumentKind.RESULT) throw invalid('unknown kind of an argument')
  const index = requireField(result, 'argument.result')
  return subresult === undefined ? { Result: index } : { NestedResult: [index, subresult] }
}

export function parseCommand({ command }: GrpcTypes.Command): Command {
  switch (command.oneofKind) {
    case 'moveCall': {
      const { package: address, module, function: name, typeArguments, arguments: values } = command.moveCall
      return {
        MoveCall: {
          package: requireField(address, 'package'),
          module: requireField(module, 'module'),
          function: requireField(name, 'function'),
          typeArguments,
          arguments: values.map(parseArgument),
        },
      }
    }
    case 'transferObjects': {
      const { objects, address } = command.transferObjects
      return { TransferObjects: { objects: objects.map(parseArgument), address: parseArgument(address) } }
    }
    case 'splitCoins': {
      const { coin, amounts } = command.splitCoins
      return { SplitCoins: { coin: parseArgument(coin), amounts: amounts.map(parseArgument) } }
    }
    case 'mergeCoins': {
      const { coin, coinsToMerge } = command.mergeCoins
      return { MergeCoins: { destination: parseArgument(coin), sources: coinsToMerge.map(parseArgument) } }
    }
    case 'makeMoveVector': {
      const { elementType, elements } = command.makeMoveVector
      return { MakeMoveVec: { type: elementType ?? null, elements: elements.map(parseArgument) } }
    }
    case 'publish':
    case 'upgrade':
      throw invalid(`${command.oneofKind} is refused, because this simulator has no Move VM`)
    case undefined:
      throw invalid('missing command')
  }
}

export function parseExpiration(expiration: GrpcTypes.TransactionExpiration | undefined): Expiration {
  if (expiration === undefined || expiration.kind === ExpirationKind.NONE) return { None: true }
  const { kind, epoch, minEpoch, chain, nonce } = expiration
  if (kind === ExpirationKind.EPOCH) return { Epoch: requireField(epoch, 'expiration.epoch').toString() }
  if (kind !== ExpirationKind.VALID_DURING) throw invalid('unsupported kind of an expiration')
  return {
    ValidDuring: {
      ...{ minEpoch: minEpoch ?? null, maxEpoch: epoch ?? null, minTimestamp: null, maxTimestamp: null },
      chain: requireField(chain, 'expiration.chain'),
      nonce: nonce ?? 0,
    },
  }
}

/** Null if the message has no BCS. */
export function parseTransactionBytes(
  transaction: GrpcTypes.Transaction,
): typeof bcs.TransactionDataV1.$inferType | null {
  const value = transaction.bcs?.value
  if (value === undefined) return null
  try {
    const parsed = bcs.TransactionData.parse(value).V1
    const again = bcs.TransactionData.serialize({ V1: parsed }).toBytes()
    if (again.length !== value.length || again.some((byte, i) => byte !== value[i])) throw new Error('trailing bytes')
    return parsed
  } catch (error) {
    throw invalid((error as Error).message)
  }
}
