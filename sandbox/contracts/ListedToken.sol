// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A standard ERC-20 of the sandbox. The bank may mint.
contract ListedToken is ERC20 {
    address public immutable bank;
    uint8 private immutable _decimals;

    error NotTheBank();

    constructor(string memory name, string memory symbol, uint8 decimals_, address bank_, uint256 supply)
        ERC20(name, symbol)
    {
        _decimals = decimals_;
        bank = bank_;
        _mint(bank_, supply);
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external {
        if (msg.sender != bank) revert NotTheBank();
        _mint(to, amount);
    }
}
