import type { Command } from 'commander'
import { networks as definitions } from '../../networks/index.ts'
import { type ContractState, deployContracts, hasDeployer, readContracts } from '../adapters/swap-chain/deploy.ts'
import { type DeployRefusal, deployFromAccount, openDeployer } from '../adapters/swap-chain/deploy-from-key.ts'
import { type Config, loadConfig } from '../config/load.ts'
import { formatUnits } from '../core/domain/amount.ts'
import { type Network, resolveNetwork } from '../core/domain/network.ts'
import type { NodeEndpoint } from '../lib/node-endpoint.ts'
import { nodesOf } from './evm-nodes.ts'
import { readKeyFile } from './key-file.ts'
import { fail, print } from './print.ts'

/** Decimals of the native coin of every EVM network. */
const NATIVE_DECIMALS = 18

type EvmNetwork = Readonly<{ network: Network; rpcUrls: readonly NodeEndpoint[] }>

/** The swap contracts have no owner: any account can deploy them, at the same addresses on every network. */
export function addContractCommands(program: Command): void {
  const contracts = program
    .command('contracts')
    .description('swap contracts (router and executors) on the EVM networks')
  contracts
    .command('status')
    .description('shows where they are deployed')
    .option('--network <ticker>', 'one network only')
    .action(async ({ network }: { network?: string }) => {
      for (const evmNetwork of evmNetworks(loadConfig(), network)) {
        for (const { contract, address, isDeployed } of await readContracts(evmNetwork))
          print({ network: evmNetwork.network.id, contract, address, isDeployed })
      }
    })
  contracts
    .command('deploy')
    .description(
      'prints the transactions that deploy missing contracts, to be sent from any account; with --key-file, and in the sandbox, sends them',
    )
    .option('--network <ticker>', 'one network only')
    .option(
      '--key-file <file>',
      'sends the transactions; the file holds the private key of the paying account, and only its owner may read it',
    )
    .option('--dry-run', 'only prints the transactions', false)
    .action(async ({ network, keyFile, dryRun }: { network?: string; keyFile?: string; dryRun: boolean }) => {
      const config = loadConfig()
      // A dry run reads the key file too, so that it finds a wrong one.
      const account = keyFile === undefined ? null : openAccount(keyFile)
      const networks = evmNetworks(config, network)
      if (account !== null && !dryRun) await sendAll(networks, account)
      else if (config.environment === 'sandbox' && !dryRun)
        for (const evmNetwork of networks) printStates(evmNetwork, await deployContracts(evmNetwork))
      else await printAll(networks)
    })
}

function printStates({ network }: EvmNetwork, states: readonly ContractState[], note: object = {}): void {
  for (const state of states) print({ network: network.id, ...state, ...note })
}

async function printAll(networks: readonly EvmNetwork[]): Promise<void> {
  for (const evmNetwork of networks) {
    const note = (await hasDeployer(evmNetwork)) ? {} : { note: 'the deterministic deployment proxy is missing' }
    printStates(evmNetwork, await readContracts(evmNetwork), note)
  }
}

type Account = NonNullable<ReturnType<typeof openDeployer>>

const openAccount = (file: string): Account =>
  openDeployer(readKeyFile(file)) ??
  fail(`${file} does not contain a private key: the number is outside the curve order`)

/** Network by network; a network that refuses does not stop the others. */
async function sendAll(networks: readonly EvmNetwork[], account: Account): Promise<void> {
  const refused: string[] = []
  for (const evmNetwork of networks) {
    const { id } = evmNetwork.network
    const reason = await deployFromAccount(evmNetwork, account, ({ contract, address, sent }) =>
      print({ network: id, contract, address, isDeployed: true, from: sent && account.address, ...sent }),
    )
    if (reason !== null) refused.push(`${id}: nothing was sent: ${explain(reason, account.address)}`)
  }
  if (refused.length > 0) fail(refused.join('\n'))
}

function explain(reason: DeployRefusal, account: string): string {
  if (reason.kind === 'no-deployer')
    return 'the deterministic deployment proxy is missing; deploy it first (contracts/README.md)'
  if (reason.kind === 'unsupported-opcodes')
    return 'the chain does not execute TSTORE, MCOPY or PUSH0 (Cancun), which the contracts use; every swap would revert'
  if (reason.kind === 'pending-transactions')
    return `transactions of ${account} (${reason.transactions}) are in no block yet; run this command again when they are`
  const coins = (wei: bigint) => formatUnits(wei, NATIVE_DECIMALS)
  const { balance, needed } = reason
  return `${account} holds ${coins(balance)} coins and may need ${coins(needed)}: ${coins(needed - balance)} are missing`
}

/** EVM networks with a node, from the settings or from the running sandbox. */
function evmNetworks(config: Config, ticker: string | undefined): readonly EvmNetwork[] {
  const nodes = nodesOf(config)
  const found = definitions
    .filter(({ id, family }) => family === 'evm' && (ticker === undefined || id === ticker))
    .flatMap((definition) => {
      const rpcUrls = nodes.get(definition.id)?.rpcUrls ?? []
      return rpcUrls.length === 0 ? [] : [{ network: resolveNetwork(definition, config.environment), rpcUrls }]
    })
  if (found.length === 0)
    fail(ticker === undefined ? 'no EVM network has a node' : `${ticker} is not an EVM network with a node`)
  return found
}
