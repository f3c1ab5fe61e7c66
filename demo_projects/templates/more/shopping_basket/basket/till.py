from basket.articles import Article


def add_article(article: Article, basket: list = []) -> list:
    basket.append(article)
    return basket


def total_cents(basket: list, with_deposit: bool = True) -> int:
    total = sum(article.cents for article in basket)
    if with_deposit:
        total += sum(article.deposit_cents for article in basket)
    return total
