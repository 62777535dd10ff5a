// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface ISwapExecutor {
    /// @notice Trades the input that the caller has just sent to this contract along `route`. Keeps no balance.
    /// @param route Encoding defined by each executor
    /// @param to Recipient of the route's target token
    /// @param refund Recipient of unspent amounts of all other tokens
    function executeSwapRoute(uint256[] calldata route, address to, address refund) external payable;
}
