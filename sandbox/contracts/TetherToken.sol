// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// A token with two quirks of USDT on Ethereum: `transfer`, `transferFrom` and `approve` return no value, and a
/// non-zero allowance can only be set to zero.
contract TetherToken {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable bank;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address bank_, uint256 supply) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        bank = bank_;
        _mint(bank_, supply);
    }

    function transfer(address to, uint256 value) external {
        _move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        uint256 allowed = allowance[from][msg.sender];
        // As in USDT, the maximum value is an unlimited allowance.
        if (allowed < type(uint256).max) {
            require(allowed >= value);
            allowance[from][msg.sender] = allowed - value;
        }
        _move(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function mint(address to, uint256 value) external {
        require(msg.sender == bank);
        _mint(to, value);
    }

    function _mint(address to, uint256 value) private {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _move(address from, address to, uint256 value) private {
        require(balanceOf[from] >= value);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
