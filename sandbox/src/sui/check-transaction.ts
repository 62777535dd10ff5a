/* What a validator checks before it signs. A refused transaction has no effects and costs nothing. */
import { normalizeSuiAddress } from '@mysten/sui/utils'
import { computationUnitsMin, gasBudgetMax, gasCoinsMax, gasPriceMax } from './gas.ts'
import { TransactionRefusal } from './grpc-error.ts'
import type { LedgerView } from './ledger.ts'
import type { MoveFunctions } from './move-function.ts'
import { coinTypeOf, readCoinBalance, SUI_TYPE, type SuiObject } from './sui-object.ts'
import { commandsOf, inputsOf, type TransactionBody } from './transaction-body.ts'

export type ChainState = Readonly<{ epoch: bigint; chainId: string; referenceGasPrice: bigint }>

type ObjectRef = Readonly<{ objectId: string; version: string; digest: string }>

const commandsMax = 1024
const inputsMax = 2048
const systemPackages = ['0x1', '0x2', '0x3'].map((id) => normalizeSuiAddress(id))

const refuse = (reason: string): TransactionRefusal => new TransactionRefusal(reason)

function checkCommands(data: TransactionBody, functions: MoveFunctions): void {
  if (data.kind.$kind !== 'ProgrammableTransaction')
    throw refuse(`Unsupported feature: users cannot send ${data.kind.$kind}`)
  const commands = commandsOf(data)
  if (commands.length === 0) throw refuse('Empty command input')
  if (commands.length > commandsMax) throw refuse(`Size limit exceeded: maximum commands is ${commandsMax}`)
  if (inputsOf(data).length > inputsMax) throw refuse(`Size limit exceeded: maximum input objects is ${inputsMax}`)
  const packages = new Set([...systemPackages, ...[...functions.keys()].map((key) => key.split('::', 1)[0] ?? '')])
  for (const command of commands) {
    if (command.$kind === 'Publish' || command.$kind === 'Upgrade')
      throw refuse(`Unsupported feature: ${command.$kind}, because this simulator has no Move VM`)
    if (command.$kind === 'MoveCall' && !packages.has(command.MoveCall.package))
      throw refuse(`Dependent package not found on-chain: ${command.MoveCall.package}`)
  }
}

function checkExpiration({ expiration }: TransactionBody, { epoch, chainId }: ChainState): void {
  if (expiration.$kind === 'None') return
  if (expiration.$kind === 'Epoch') {
    if (BigInt(expiration.Epoch) < epoch) throw refuse('Transaction Expired')
    return
  }
  const period = expiration.$kind === 'ValidDuring' ? expiration.ValidDuring : expiration.Validity
  if (period.chain !== chainId) throw refuse(`Invalid chain id: ${period.chain}, expected: ${chainId}`)
  if (period.minTimestamp !== null || period.maxTimestamp !== null)
    throw refuse('Unsupported feature: timestamps in the expiration')
  const isEarly = period.minEpoch !== null && BigInt(period.minEpoch) > epoch
  const isLate = period.maxEpoch !== null && BigInt(period.maxEpoch) < epoch
  if (isEarly || isLate) throw refuse('Transaction Expired')
}

function requireRef(view: LedgerView, { objectId, version, digest }: ObjectRef): SuiObject {
  const object = view.findObject(objectId)
  if (object === undefined) throw refuse(`Could not find the referenced object ${objectId} at version ${version}`)
  if (object.version !== BigInt(version))
    throw refuse(
      `Transaction needs to be rebuilt because object ${objectId} version ${version} is unavailable for consumption, current version: ${object.version}`,
    )
  if (object.digest !== digest)
    throw refuse(`Invalid Object digest for object ${objectId}. Expected digest : ${object.digest}`)
  return object
}

function requireOwnedBy(object: SuiObject, address: string): void {
  const { owner } = object
  if (owner.kind === 'address' && owner.address === address) return
  if (owner.kind === 'object')
    throw refuse(
      `Object ${object.id} is owned by object ${owner.id}. Objects owned by other objects cannot be used as input arguments`,
    )
  if (owner.kind === 'shared') throw refuse(`Object ${object.id} is a shared object; an owned object was expected`)
  throw refuse(`Transaction was not signed by the correct sender: Object ${object.id} is not owned by ${address}`)
}

function checkGasPrice({ gasData }: TransactionBody, { referenceGasPrice }: ChainState): void {
  const [price, budget] = [BigInt(gasData.price), BigInt(gasData.budget)]
  if (price < referenceGasPrice) throw refuse(`Gas price ${price} under reference gas price (RGP) ${referenceGasPrice}`)
  if (price > gasPriceMax) throw refuse(`Gas price cannot exceed ${gasPriceMax} mist`)
  if (budget > gasBudgetMax) throw refuse(`Gas budget: ${budget} is higher than max: ${gasBudgetMax}`)
  const least = computationUnitsMin * price
  if (budget < least) throw refuse(`Gas budget: ${budget} is lower than min: ${least}`)
}

function checkGasCoins(view: LedgerView, { gasData }: TransactionBody): void {
  const { payment, owner, budget } = gasData
  if (payment.length === 0) return
  if (payment.length > gasCoinsMax)
    throw refuse(`Size limit exceeded: maximum number of gas payment objects is ${gasCoinsMax}`)
  const coins = payment.map((ref) => requireRef(view, ref))
  for (const coin of coins) {
    requireOwnedBy(coin, owner)
    if (coin.type !== coinTypeOf(SUI_TYPE)) throw refuse(`Gas object is not an owned object with SUI: ${coin.id}`)
  }
  const balance = coins.reduce((sum, { contents }) => sum + readCoinBalance(contents), 0n)
  if (balance < BigInt(budget))
    throw refuse(`Balance of gas object ${balance} is lower than the needed amount: ${budget}`)
}

function checkShared(view: LedgerView, objectId: string, initialVersion: string): void {
  const object = view.findObject(objectId)
  if (object === undefined) throw refuse(`Could not find the referenced object ${objectId} at version None`)
  if (object.owner.kind !== 'shared') throw refuse(`Object used as shared is not shared: ${objectId}`)
  if (object.owner.initialVersion !== BigInt(initialVersion))
    throw refuse(
      `Input object with id ${objectId} has initial shared version ${object.owner.initialVersion}, not ${initialVersion}`,
    )
}

function checkObjects(view: LedgerView, data: TransactionBody): Readonly<{ hasOwned: boolean }> {
  const seen = new Set(data.gasData.payment.map(({ objectId }) => objectId))
  if (seen.size !== data.gasData.payment.length)
    throw refuse('Mutable object cannot appear more than one in one transaction')
  let hasOwned = false
  for (const input of inputsOf(data)) {
    if (input.$kind !== 'Object') continue
    if (input.Object.$kind === 'Receiving') throw refuse('Unsupported feature: receiving objects, in this simulator')
    if (input.Object.$kind === 'SharedObject') {
      const { objectId, initialSharedVersion } = input.Object.SharedObject
      if (seen.has(objectId)) throw refuse(`Duplicate input object ${objectId}`)
      seen.add(objectId)
      checkShared(view, objectId, initialSharedVersion)
      continue
    }
    const ref = input.Object.ImmOrOwnedObject
    if (seen.has(ref.objectId))
      throw refuse(`Mutable object ${ref.objectId} cannot appear more than one in one transaction`)
    seen.add(ref.objectId)
    const object = requireRef(view, ref)
    if (object.owner.kind === 'immutable') continue
    requireOwnedBy(object, data.sender)
    hasOwned = true
  }
  return { hasOwned }
}

/** Reservations and gas must not exceed an address balance. */
function checkAddressBalances(view: LedgerView, data: TransactionBody): void {
  const needed = new Map<string, { owner: string; coinType: string; amount: bigint }>()
  const add = (owner: string, coinType: string, amount: bigint) => {
    const entry = needed.get(`${owner} ${coinType}`) ?? { owner, coinType, amount: 0n }
    needed.set(`${owner} ${coinType}`, { ...entry, amount: entry.amount + amount })
  }
  for (const input of inputsOf(data)) {
    if (input.$kind !== 'FundsWithdrawal') continue
    const { reservation, typeArg, withdrawFrom } = input.FundsWithdrawal
    if (withdrawFrom.$kind === 'SenderAllowance') throw refuse('Unsupported feature: allowances, in this simulator')
    const owner = withdrawFrom.$kind === 'Sponsor' ? data.gasData.owner : data.sender
    add(owner, typeArg.Balance, BigInt(reservation.MaxAmountU64))
  }
  if (data.gasData.payment.length === 0) add(data.gasData.owner, SUI_TYPE, BigInt(data.gasData.budget))
  for (const { owner, coinType, amount } of needed.values()) {
    const available = view.readAddressBalance(owner, coinType)
    if (available < amount)
      throw refuse(
        `Invalid withdraw reservation: Available amount in account for ${owner} and ${coinType} is ${available}, requested: ${amount}`,
      )
  }
}

/** Throws a TransactionRefusal. */
export function checkTransaction(
  data: TransactionBody,
  view: LedgerView,
  { functions, state }: Readonly<{ functions: MoveFunctions; state: ChainState }>,
): void {
  checkCommands(data, functions)
  checkExpiration(data, state)
  checkGasPrice(data, state)
  const { hasOwned } = checkObjects(view, data)
  checkGasCoins(view, data)
  checkAddressBalances(view, data)
  // Without a version that is used up, only the expiration keeps a transaction from being executed again.
  const isOnce = hasOwned || data.gasData.payment.length > 0 || !['None', 'Epoch'].includes(data.expiration.$kind)
  if (!isOnce) throw refuse('Transactions must either have address-owned inputs, or a ValidDuring expiration')
}
