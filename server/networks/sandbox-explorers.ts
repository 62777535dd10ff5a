/**
 * URL templates of the sandbox's own explorer pages, without a host: the presenter adds the server's public URL. A public
 * explorer does not know a regtest chain.
 */
export function sandboxExplorers(network: string): { addressExplorer: string; txExplorer: string } {
  return {
    addressExplorer: `/sandbox/explorer/${network}/address/{}`,
    txExplorer: `/sandbox/explorer/${network}/tx/{}`,
  }
}
