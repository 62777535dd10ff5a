import type { Command } from 'commander'
import { networks as definitions } from '../../networks/index.ts'
import { type ContractState, deployContracts, hasDeployer, readContracts } from '../adapters/swap-chain/deploy.ts'
import { deployFromAccount, type DeployRefusal, openDeployer } from '../adapters/swap-chain/deploy-from-key.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { formatUnits } from '../core/domain/amount.ts'
import { type Network, resolveNetwork } from '../core/domain/network.ts'
import { nodesOf } from './evm-nodes.ts'
import { readKeyFile } from './key-file.ts'
import { fail, print } from './print.ts'

/** Of the coin of every EVM network. */
const COIN_DECIMALS = 18

type Reached = Readonly<{ network: Network; rpcUrls: readonly string[] }>

/** The swap contracts: they belong to nobody, and whoever sends the bytes puts them at the same addresses. */
export function addContractCommands(program: Command): void {
  const contracts = program.command('contracts').description('router and executors of swaps on the EVM networks')
  contracts
    .command('status')
    .description('where they are')
    .option('--network <ticker>', 'one network only')
    .action(async ({ network }: { network?: string }) => {
      for (const where of reached(loadConfig(), network)) {
        for (const { contract, address, isDeployed } of await readContracts(where))
          print({ network: where.network.id, contract, address, isDeployed })
      }
    })
  contracts
    .command('deploy')
    .description(
      'prints the transactions that put them where they are missing, for any account to send, or sends them from the account of a key; the sandbox sends them itself',
    )
    .option('--network <ticker>', 'one network only')
    .option(
      '--key-file <file>',
      'sends them: a file with the private key of the account that pays, open to nobody else',
    )
    .option('--dry-run', 'prints all the same', false)
    .action(async ({ network, keyFile, dryRun }: { network?: string; keyFile?: string; dryRun: boolean }) => {
      const config = loadConfig()
      // Read in any case: a wrong file is found by the dry run.
      const account = keyFile === undefined ? null : openAccount(keyFile)
      const wheres = reached(config, network)
      if (dryRun) await printAll(wheres)
      else if (account !== null) await sendAll(wheres, account)
      else if (config.environment === 'sandbox')
        for (const where of wheres) printStates(where, await deployContracts(where))
      else await printAll(wheres)
    })
}

function printStates({ network }: Reached, states: readonly ContractState[], note: object = {}): void {
  for (const state of states) print({ network: network.id, ...state, ...note })
}

async function printAll(wheres: readonly Reached[]): Promise<void> {
  for (const where of wheres) {
    const note = (await hasDeployer(where)) ? {} : { note: 'the deterministic deployment proxy is missing' }
    printStates(where, await readContracts(where), note)
  }
}

type Account = NonNullable<ReturnType<typeof openDeployer>>

const openAccount = (file: string): Account =>
  openDeployer(readKeyFile(file)) ?? fail(`${file} holds no private key: they are beyond the curve's order`)

/** Network by network; one that nothing can be sent on does not keep the others waiting. */
async function sendAll(wheres: readonly Reached[], account: Account): Promise<void> {
  const refused: string[] = []
  for (const where of wheres) {
    const { id } = where.network
    const reason = await deployFromAccount(where, account, ({ contract, address, sent }) =>
      print({ network: id, contract, address, isDeployed: true, from: sent && account.address, ...sent }),
    )
    if (reason !== null) refused.push(`${id}: nothing was sent: ${sentenceOf(reason, account.address)}`)
  }
  if (refused.length > 0) fail(refused.join('\n'))
}

function sentenceOf(reason: DeployRefusal, account: string): string {
  if (reason.kind === 'no-deployer')
    return 'the deterministic deployment proxy is missing, and comes first: contracts/README.md says how'
  if (reason.kind === 'waiting')
    return `transactions of ${account} (${reason.transactions}) are in no block yet: begin again when they are`
  const coins = (wei: bigint) => formatUnits(wei, COIN_DECIMALS)
  const { balance, needed } = reason
  return `${account} holds ${coins(balance)} and may need ${coins(needed)}: ${coins(needed - balance)} coins are missing`
}

/** EVM networks that have a node: of the settings, or of the sandbox that runs. */
function reached(config: Config, wanted: string | undefined): readonly Reached[] {
  const nodes = nodesOf(config)
  const found = definitions
    .filter(({ id, family }) => family === 'evm' && (wanted === undefined || id === wanted))
    .flatMap((definition) => {
      const rpcUrls = nodes.get(definition.id)?.rpcUrls ?? []
      return rpcUrls.length === 0 ? [] : [{ network: resolveNetwork(definition, config.environment), rpcUrls }]
    })
  if (found.length === 0)
    fail(wanted === undefined ? 'no EVM network has a node' : `${wanted} is no EVM network with a node`)
  return found
}
