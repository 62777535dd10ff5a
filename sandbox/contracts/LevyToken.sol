// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A fee-on-transfer token: it burns 1 % of each transfer, so the recipient gets 99 %.
contract LevyToken is ERC20 {
    address public immutable bank;

    error NotTheBank();

    constructor(string memory name, string memory symbol, address bank_) ERC20(name, symbol) {
        bank = bank_;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != bank) revert NotTheBank();
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0) || to == address(0)) return super._update(from, to, value);
        uint256 levy = value / 100;
        super._update(from, address(0), levy);
        super._update(from, to, value - levy);
    }
}
