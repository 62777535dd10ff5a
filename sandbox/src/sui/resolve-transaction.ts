/* Completes a transaction that a client has sent without object versions, gas price or budget. */
import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { isValidSuiAddress, normalizeSuiAddress } from '@mysten/sui/utils'
import { gasBudgetMax } from './gas.ts'
import { invalidArgument, notFound } from './grpc-error.ts'
import type { LedgerView } from './ledger.ts'
import { functionKey, type MoveFunctions } from './move-function.ts'
import { parseCommand, parseExpiration, requireField } from './parse-grpc-transaction.ts'
import type { SuiObject } from './sui-object.ts'
import type { TransactionBody } from './transaction-body.ts'

type CallArg = typeof bcs.CallArg.$inferInput
type Command = typeof bcs.Command.$inferInput
type Context = Readonly<{ view: LedgerView; functions: MoveFunctions; referenceGasPrice: bigint }>

const { FundsWithdrawal_Source: Source, Input_InputKind: InputKind } = GrpcTypes

export function requireAddress(text: string | undefined, field: string): string {
  const address = normalizeSuiAddress(requireField(text, field))
  if (!isValidSuiAddress(address)) throw invalidArgument(`invalid ${field}: ${text?.slice(0, 80)}`)
  return address
}

function requireObject(view: LedgerView, objectId: string | undefined): SuiObject {
  const id = requireAddress(objectId, 'object_id')
  const object = view.findObject(id)
  if (object === undefined) throw notFound(`Object ${id} not found`)
  return object
}

function resolveRef(object: SuiObject, given: Pick<GrpcTypes.Input, 'version' | 'digest'>) {
  const { id, version, digest } = object
  if (given.version !== undefined && given.version !== version)
    throw invalidArgument(`provided version doesn't match, provided: ${given.version} actual: ${version}`)
  if (given.digest !== undefined && given.digest !== digest)
    throw invalidArgument(`provided digest doesn't match, provided: ${given.digest} actual: ${digest}`)
  return { objectId: id, version, digest }
}

/** Whether a command changes the input, or takes it by value. */
function isChanged(commands: readonly Command[], index: number, functions: MoveFunctions): boolean {
  const isInput = (argument: object) => 'Input' in argument && argument.Input === index
  return commands.some((command) => {
    if ('MoveCall' in command && command.MoveCall) {
      const { package: address, module, function: name, arguments: values } = command.MoveCall
      const parameters = functions.get(functionKey(address as string, module, name))?.parameters
      return [...values].some((value, i) => isInput(value) && parameters?.[i]?.use !== 'reference')
    }
    const parts = Object.values(command).flatMap((body) => (body === null ? [] : Object.values(body as object)))
    return parts.flat().some((part) => typeof part === 'object' && part !== null && isInput(part))
  })
}

function resolveWithdrawal(input: GrpcTypes.Input): CallArg {
  const { amount, coinType, source } = requireField(input.fundsWithdrawal, 'funds_withdrawal')
  if (source === Source.SENDER_ALLOWANCE) throw invalidArgument('this simulator has no allowances')
  return {
    FundsWithdrawal: {
      reservation: { MaxAmountU64: requireField(amount, 'amount') },
      typeArg: { Balance: requireField(coinType, 'coin_type') },
      withdrawFrom: source === Source.SPONSOR ? { Sponsor: true } : { Sender: true },
    },
  }
}

function resolveInput(input: GrpcTypes.Input, index: number, commands: readonly Command[], context: Context): CallArg {
  if (input.kind === InputKind.FUNDS_WITHDRAWAL) return resolveWithdrawal(input)
  if (input.pure !== undefined) return { Pure: { bytes: input.pure } }
  if (input.literal !== undefined) throw invalidArgument('this simulator does not resolve literals')
  const object = requireObject(context.view, input.objectId)
  switch (object.owner.kind) {
    case 'address':
    case 'immutable':
      return { Object: { ImmOrOwnedObject: resolveRef(object, input) } }
    case 'shared': {
      const mutable = isChanged(commands, index, context.functions)
      return {
        Object: { SharedObject: { objectId: object.id, initialSharedVersion: object.owner.initialVersion, mutable } },
      }
    }
    case 'object':
      throw invalidArgument(`object ${object.id} is object owned and cannot be used as an input`)
  }
}

export function resolveTransaction(transaction: GrpcTypes.Transaction, context: Context): TransactionBody {
  const sender = requireAddress(transaction.sender, 'transaction.sender')
  const { data } = requireField(transaction.kind, 'transaction.kind')
  if (data.oneofKind !== 'programmableTransaction') throw invalidArgument('missing programmable_transaction')
  const commands = data.programmableTransaction.commands.map(parseCommand)
  const inputs = data.programmableTransaction.inputs.map((input, i) => resolveInput(input, i, commands, context))
  const { objects = [], owner, price, budget } = transaction.gasPayment ?? {}
  const body = {
    kind: { ProgrammableTransaction: { inputs, commands } },
    sender,
    gasData: {
      payment: objects.map((ref) => resolveRef(requireObject(context.view, ref.objectId), ref)),
      owner: owner === undefined ? sender : requireAddress(owner, 'gas_payment.owner'),
      price: price ?? context.referenceGasPrice,
      budget: budget ?? gasBudgetMax,
    },
    expiration: parseExpiration(transaction.expiration),
  }
  try {
    return bcs.TransactionDataV1.parse(bcs.TransactionDataV1.serialize(body).toBytes())
  } catch (error) {
    throw invalidArgument(`invalid transaction: ${(error as Error).message}`)
  }
}
