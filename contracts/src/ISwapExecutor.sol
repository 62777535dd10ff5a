// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface ISwapExecutor {
    /// @notice Trades what was sent here just before along `route`. Keeps nothing.
    /// @param route the words that SwapExecutor explains
    /// @param to who gets the route's target token
    /// @param refund who gets what is left of any other token
    function executeSwapRoute(uint256[] calldata route, address to, address refund) external payable;
}
