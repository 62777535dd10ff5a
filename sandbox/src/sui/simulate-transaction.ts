/* Dry run: no signatures, and the gas that the client left out is estimated and selected. */
import { bcs } from '@mysten/sui/bcs'
import { checkTransaction } from './check-transaction.ts'
import { computeDigest } from './digests.ts'
import { gasBudgetMax, gasCoinsMax, netCostOf, storageCostOf } from './gas.ts'
import { invalidArgument, TransactionRefusal } from './grpc-error.ts'
import type { LedgerView } from './ledger.ts'
import type { Outcome } from './outcome.ts'
import type { Chain } from './simulated-chain.ts'
import { coinTypeOf, encodeCoin, largest, readCoinBalance, SUI_TYPE, type SuiObject, sealObject } from './sui-object.ts'
import { commandsOf, inputsOf, type TransactionBody } from './transaction-body.ts'

export type SimulationRequest = Readonly<{
  data: TransactionBody
  isBudgetGiven: boolean
  selectsGas: boolean
  isChecked: boolean
}>

export type Simulation = Readonly<{
  data: TransactionBody
  bytes: Uint8Array<ArrayBuffer>
  digest: string
  outcome: Outcome
}>

/** Computation units added to an estimate. */
const overheadUnits = 1_000n
const mockGasId = `0x${'f'.repeat(64)}`
/** MIST. Commands may split off what the budget does not reserve. */
const mockGasBalance = 10n ** 18n
const noDigest = '1'.repeat(32)

const gasCoinType = coinTypeOf(SUI_TYPE)

const mockCoin = (owner: string): SuiObject =>
  sealObject(
    {
      ...{ type: gasCoinType, hasPublicTransfer: true },
      contents: encodeCoin(mockGasId, mockGasBalance),
      owner: { kind: 'address', address: owner },
    },
    { version: 1n, previousTransaction: noDigest, storageRebate: 0n },
  )

const withGas = (data: TransactionBody, gas: Partial<TransactionBody['gasData']>): TransactionBody => ({
  ...data,
  gasData: { ...data.gasData, ...gas },
})

const refOf = ({ id, version, digest }: SuiObject) => ({ objectId: id, version: version.toString(), digest })

const usesGasCoin = (data: TransactionBody): boolean => JSON.stringify(commandsOf(data)).includes('"GasCoin"')

function runMocked(chain: Chain, data: TransactionBody, isChecked: boolean): Simulation {
  const coin = mockCoin(data.gasData.owner)
  const view: LedgerView = {
    findObject: (id) => (id === coin.id ? coin : chain.ledger.findObject(id)),
    readAddressBalance: chain.ledger.readAddressBalance,
    listChildren: chain.ledger.listChildren,
  }
  return run(chain, withGas(data, { payment: [refOf(coin)] }), view, isChecked)
}

function run(chain: Chain, data: TransactionBody, view: LedgerView, isChecked: boolean): Simulation {
  const { functions } = chain
  try {
    // Without checks the expiration and the gas price do not matter; references to objects always do.
    const state = chain.readState()
    const relaxed = { ...withGas(data, { price: state.referenceGasPrice.toString() }), expiration: none }
    checkTransaction(isChecked ? data : relaxed, view, { functions, state })
  } catch (error) {
    if (error instanceof TransactionRefusal)
      throw invalidArgument(`Error checking transaction input objects: ${error.message}`)
    throw error
  }
  const bytes = bcs.TransactionData.serialize({ V1: data }).toBytes()
  const digest = computeDigest('TransactionData', bytes)
  return { data, bytes, digest, outcome: chain.simulate(data, digest, view) }
}

const none = { None: true, $kind: 'None' } as const

function estimateBudget(chain: Chain, data: TransactionBody): bigint {
  const mocked = runMocked(chain, withGas(data, { budget: gasBudgetMax.toString() }), true)
  const { gas } = mocked.outcome
  const overhead = overheadUnits * BigInt(data.gasData.price)
  const ofMock = storageCostOf({ type: gasCoinType, contents: encodeCoin(mockGasId, 0n) })
  const net = netCostOf(gas) - ofMock
  return largest([net, gas.computationCost]) + overhead
}

/** The owner's SUI coins that the transaction does not use, largest first, until they cover the budget. */
function selectCoins({ ledger }: Chain, data: TransactionBody): SuiObject[] | null {
  const used = new Set(
    inputsOf(data).map((input) => (input.$kind === 'Object' ? input.Object.ImmOrOwnedObject?.objectId : undefined)),
  )
  const coins = ledger
    .listObjects(
      ({ id, type, owner }) =>
        type === gasCoinType && owner.kind === 'address' && owner.address === data.gasData.owner && !used.has(id),
    )
    .sort((a, b) => (readCoinBalance(a.contents) < readCoinBalance(b.contents) ? 1 : -1))
  const selected: SuiObject[] = []
  let sum = 0n
  for (const coin of coins.slice(0, gasCoinsMax)) {
    selected.push(coin)
    sum += readCoinBalance(coin.contents)
    if (sum >= BigInt(data.gasData.budget)) return selected
  }
  return null
}

function reservedOf(data: TransactionBody): bigint {
  return inputsOf(data).reduce((sum, input) => {
    const withdrawal = input.$kind === 'FundsWithdrawal' ? input.FundsWithdrawal : null
    return withdrawal?.typeArg.Balance === SUI_TYPE ? sum + BigInt(withdrawal.reservation.MaxAmountU64) : sum
  }, 0n)
}

/** An address balance pays if it suffices and no command uses the gas coin; otherwise coins do. */
function selectGas(chain: Chain, data: TransactionBody): TransactionBody {
  const { owner, budget } = data.gasData
  const available = chain.ledger.readAddressBalance(owner, SUI_TYPE) - reservedOf(data)
  if (!usesGasCoin(data) && available >= BigInt(budget)) {
    if (data.expiration.$kind !== 'None') return data
    const { epoch, chainId } = chain.readState()
    const period = {
      ...{ minEpoch: epoch.toString(), maxEpoch: (epoch + 1n).toString(), minTimestamp: null, maxTimestamp: null },
      ...{ chain: chainId, nonce: Math.floor(Math.random() * 2 ** 32) },
    }
    return { ...data, expiration: { $kind: 'ValidDuring', ValidDuring: period } }
  }
  const coins = selectCoins(chain, data)
  if (coins === null)
    throw invalidArgument(
      `Unable to perform gas selection due to insufficient SUI balance for account ${owner} to satisfy required budget ${budget}.`,
    )
  return withGas(data, { payment: coins.map(refOf) })
}

export function simulateTransaction(chain: Chain, request: SimulationRequest): Simulation {
  const { isBudgetGiven, selectsGas, isChecked } = request
  let { data } = request
  if (!selectsGas || !isChecked) {
    const paysFromBalance =
      chain.ledger.readAddressBalance(data.gasData.owner, SUI_TYPE) >= BigInt(data.gasData.budget) && !usesGasCoin(data)
    if (data.gasData.payment.length === 0 && !(isChecked && paysFromBalance)) return runMocked(chain, data, isChecked)
    return run(chain, data, chain.ledger, isChecked)
  }
  if (!isBudgetGiven) {
    const payment = data.gasData.payment.flatMap(({ objectId }) => chain.ledger.findObject(objectId) ?? [])
    const estimate = estimateBudget(chain, data)
    const balance = payment.reduce((sum, { contents }) => sum + readCoinBalance(contents), 0n)
    if (payment.length > 0 && balance < estimate)
      throw invalidArgument(
        `Insufficient gas balance to cover estimated transaction cost. Available gas balance: ${balance} MIST. Estimated gas budget required: ${estimate} MIST`,
      )
    data = withGas(data, { budget: estimate.toString() })
  }
  if (data.gasData.payment.length === 0) data = selectGas(chain, data)
  return run(chain, data, chain.ledger, isChecked)
}
