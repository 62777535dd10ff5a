// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// A rate provider whose rate any account can set.
contract RateProvider {
    uint256 public getRate = 1e18;

    function set(uint256 rate) external {
        getRate = rate;
    }
}

/// Replaces Balancer's authorizer: permits every action.
contract AllowAllAuthorizer {
    function canPerform(bytes32, address, address) external pure returns (bool) {
        return true;
    }
}
