/* TransactionData between BCS and the protobuf message sui.rpc.v2.Transaction. */
import type { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { fromBase64 } from '@mysten/sui/utils'
import type { Argument } from './argument-slots.ts'
import { commandsOf, inputsOf, type TransactionBody } from './transaction-body.ts'

type Command = typeof bcs.Command.$inferType
type CallArg = typeof bcs.CallArg.$inferType

const {
  Argument_ArgumentKind: ArgumentKind,
  FundsWithdrawal_Source: Source,
  Input_InputKind: InputKind,
  Input_Mutability: Mutability,
  TransactionExpiration_TransactionExpirationKind: ExpirationKind,
  TransactionKind_Kind: TransactionKind,
} = GrpcTypes

export function renderArgument(argument: Argument): GrpcTypes.Argument {
  switch (argument.$kind) {
    case 'GasCoin':
      return { kind: ArgumentKind.GAS }
    case 'Input':
      return { kind: ArgumentKind.INPUT, input: argument.Input }
    case 'Result':
      return { kind: ArgumentKind.RESULT, result: argument.Result }
    case 'NestedResult': {
      const [result, subresult] = argument.NestedResult
      return { kind: ArgumentKind.RESULT, result, subresult }
    }
  }
}

function renderWithdrawal(withdrawal: Extract<CallArg, { $kind: 'FundsWithdrawal' }>['FundsWithdrawal']) {
  const source = withdrawal.withdrawFrom.$kind === 'Sponsor' ? Source.SPONSOR : Source.SENDER
  return { amount: BigInt(withdrawal.reservation.MaxAmountU64), coinType: withdrawal.typeArg.Balance, source }
}

function renderInput(input: CallArg): GrpcTypes.Input {
  if (input.$kind === 'Pure') return { kind: InputKind.PURE, pure: fromBase64(input.Pure.bytes) }
  if (input.$kind === 'FundsWithdrawal')
    return { kind: InputKind.FUNDS_WITHDRAWAL, fundsWithdrawal: renderWithdrawal(input.FundsWithdrawal) }
  if (input.Object.$kind === 'SharedObject') {
    const { objectId, initialSharedVersion, mutable } = input.Object.SharedObject
    const mutability = mutable ? Mutability.MUTABLE : Mutability.IMMUTABLE
    return { kind: InputKind.SHARED, objectId, version: BigInt(initialSharedVersion), mutable, mutability }
  }
  const isReceiving = input.Object.$kind === 'Receiving'
  const { objectId, version, digest } =
    input.Object.$kind === 'Receiving' ? input.Object.Receiving : input.Object.ImmOrOwnedObject
  const kind = isReceiving ? InputKind.RECEIVING : InputKind.IMMUTABLE_OR_OWNED
  return { kind, objectId, version: BigInt(version), digest }
}

function renderCommand(command: Command): GrpcTypes.Command {
  switch (command.$kind) {
    case 'MoveCall': {
      const { arguments: values, ...call } = command.MoveCall
      return { command: { oneofKind: 'moveCall', moveCall: { ...call, arguments: values.map(renderArgument) } } }
    }
    case 'TransferObjects': {
      const { objects, address } = command.TransferObjects
      const transferObjects = { objects: objects.map(renderArgument), address: renderArgument(address) }
      return { command: { oneofKind: 'transferObjects', transferObjects } }
    }
    case 'SplitCoins': {
      const { coin, amounts } = command.SplitCoins
      const splitCoins = { coin: renderArgument(coin), amounts: amounts.map(renderArgument) }
      return { command: { oneofKind: 'splitCoins', splitCoins } }
    }
    case 'MergeCoins': {
      const { destination, sources } = command.MergeCoins
      const mergeCoins = { coin: renderArgument(destination), coinsToMerge: sources.map(renderArgument) }
      return { command: { oneofKind: 'mergeCoins', mergeCoins } }
    }
    case 'MakeMoveVec': {
      const { type, elements } = command.MakeMoveVec
      const elementType = type === null ? {} : { elementType: type }
      return {
        command: {
          oneofKind: 'makeMoveVector',
          makeMoveVector: { ...elementType, elements: elements.map(renderArgument) },
        },
      }
    }
    case 'Publish':
    case 'Upgrade':
      throw new Error(`${command.$kind} is refused before it is rendered`)
  }
}

function renderExpiration({ expiration }: TransactionBody): GrpcTypes.TransactionExpiration {
  if (expiration.$kind === 'None') return { kind: ExpirationKind.NONE }
  if (expiration.$kind === 'Epoch') return { kind: ExpirationKind.EPOCH, epoch: BigInt(expiration.Epoch) }
  const isPlain = expiration.$kind === 'ValidDuring'
  const { minEpoch, maxEpoch, chain, nonce } = isPlain ? expiration.ValidDuring : expiration.Validity
  return {
    kind: isPlain ? ExpirationKind.VALID_DURING : ExpirationKind.VALIDITY,
    ...(minEpoch === null ? {} : { minEpoch: BigInt(minEpoch) }),
    ...(maxEpoch === null ? {} : { epoch: BigInt(maxEpoch) }),
    chain,
    nonce,
  }
}

export function renderTransaction(data: TransactionBody, bytes: Uint8Array, digest: string): GrpcTypes.Transaction {
  const { payment, owner, price, budget } = data.gasData
  const objects = payment.map((ref) => ({ ...ref, version: BigInt(ref.version) }))
  const programmableTransaction = {
    inputs: inputsOf(data).map(renderInput),
    commands: commandsOf(data).map(renderCommand),
  }
  return {
    bcs: { name: 'TransactionData', value: bytes },
    digest,
    version: 1,
    kind: {
      kind: TransactionKind.PROGRAMMABLE_TRANSACTION,
      data: { oneofKind: 'programmableTransaction', programmableTransaction },
    },
    sender: data.sender,
    gasPayment: { objects, owner, price: BigInt(price), budget: BigInt(budget) },
    expiration: renderExpiration(data),
  }
}
